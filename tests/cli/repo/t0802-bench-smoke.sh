#!/usr/bin/env bash
# The benchmark runs one section and prints its tables, and rejects invalid requests. t0801 has the others.
. "${0%/*}/../lib.sh"

bench=$ROOT/bench/run.py
export PYTHONDONTWRITEBYTECODE=1
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

BENCH_RUNS=1 BENCH_ONLY=jq run_expect_status 0 'bench/run.py --tiny of one section succeeds' \
    "$python" "$bench" --tiny --dir "$SCRATCH/b"
is_str "$(cat err)" '' 'bench/run.py --tiny of one section prints nothing on standard error'
for table in 'Slowdown, CPU time' 'Slowdown, wall time' 'Bytes on disk, MB'; do
    file_has out "^### $table\$" "the benchmark has the table: $table"
done
is_int "$(grep -c '^| flame, exact .*[0-9]' out)" "$(grep -c '^| flame, exact ' out)" \
    'each row of flame has numbers'
file_has out '^- rounds: 1, interleaved' 'the benchmark reports the number of rounds'
is_str "$(find b -name '*.flame' -o -name '*.raw')" '' 'the benchmark removes its recordings'

BENCH_ONLY=nonesuch run_expect_status 1 'an unknown section ends with status 1' "$python" "$bench" --tiny
file_has err "no section 'nonesuch'; there are jq sqlite3" 'an unknown section: the error lists the sections'
BENCH_RUNS=0 run_expect_status 1 'BENCH_RUNS=0 ends with status 1' "$python" "$bench" --tiny
file_has err "BENCH_RUNS: '0' is not a number" 'BENCH_RUNS=0: the error says why'
SHIM=$SCRATCH/none run_expect_status 1 'a missing recorder ends with status 1' "$python" "$bench" --tiny
file_has err 'none is not there; build first' 'a missing recorder: the error says to build'
done_testing
