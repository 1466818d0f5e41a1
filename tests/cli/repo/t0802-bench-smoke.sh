#!/usr/bin/env bash
# The benchmark runs one section and prints its tables, and refuses what it cannot do. t0801 has the others.
. "${0%/*}/../lib.sh"

bench=$ROOT/bench/run.py
export PYTHONDONTWRITEBYTECODE=1
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

BENCH_RUNS=1 BENCH_ONLY=jq run_expect_status 0 'a tiny run of one section' \
    "$python" "$bench" --tiny --dir "$SCRATCH/b"
is_str "$(cat err)" '' 'nothing on standard error'
for table in 'Slowdown, CPU time' 'Slowdown, wall time' 'Bytes on disk, MB'; do
    file_has out "^### $table\$" "a table: $table"
done
is_int "$(grep -c '^| flame, exact .*[0-9]' out)" "$(grep -c '^| flame, exact ' out)" 'each row of flame has numbers'
file_has out '^- rounds: 1, interleaved' 'as many rounds as were asked for'
is_str "$(find b -name '*.flame' -o -name '*.raw')" '' 'recordings are removed'

BENCH_ONLY=nonesuch run_expect_status 1 'an unknown section' "$python" "$bench" --tiny
file_has err "no section 'nonesuch'; there are jq sqlite3" 'is named with the known ones'
BENCH_RUNS=0 run_expect_status 1 'no rounds at all' "$python" "$bench" --tiny
file_has err "BENCH_RUNS: '0' is not a number" 'are refused'
SHIM=$SCRATCH/none run_expect_status 1 'no recorder' "$python" "$bench" --tiny
file_has err 'none is not there; build first' 'is said'
done_testing
