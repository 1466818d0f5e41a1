#!/usr/bin/env bash
# The benchmark runs its sections and prints its tables. Nothing is timed here: the
# inputs are tiny, and only the presence of numbers is checked. It takes a minute, so it runs
# with FULL=1; t0802 tries one section each time.
. "${0%/*}/../lib.sh"

bench=$ROOT/bench/run.py
CHROMIUM=$("$ROOT/scripts/browser.sh" --which)
export PYTHONDONTWRITEBYTECODE=1 CHROMIUM
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

# has_row TABLE ROW NAME: the table of that title has a row that begins with ROW and
# has a number in its second column; with ANY, in one of them.
has_row() {
    if title="### $1" row=" $2" any=${4:-} awk -F'|' '
        /^### / { in_table = $0 == ENVIRON["title"] }
        in_table && index($2, ENVIRON["row"]) == 1 &&
            (ENVIRON["any"] != "" ? substr($0, length($2) + 2) : $3) ~ /[0-9]/ { found = 1 }
        END { exit !found }' out; then
        test_ok "$3"
    else
        test_fail "$3" "no row '$2' with a number in '$1'; standard error:
$(head -c 2000 err)"
    fi
}

# Every section but the simulators, which would take as long as all the rest.
BENCH_RUNS=1 BENCH_ONLY=jq,python,cc1,churn,memory,fold,off \
    run_expect_status 0 'bench/run.py --tiny succeeds' "$python" "$bench" --tiny --dir "$SCRATCH/b"
is_str "$(cat err)" '' 'bench/run.py --tiny prints nothing on standard error'
for variant in 'plain' 'flame, recording off' 'flame, exact' 'flame, 512 KiB samples'; do
    has_row 'Slowdown, CPU time' "$variant" "the table of slowdown has $variant"
done
has_row 'Slowdown, wall time' 'flame, exact' 'the table of slowdown by wall time has flame, exact'
has_row 'Churn: nanoseconds of CPU added to a malloc+free pair' 'wide, 2 threads, depth 40' 'the table of churn has two threads'
file_has out '^Narrow: 100 live blocks of .*; wide: 100\.$' 'the benchmark reports the number of live blocks'
has_row 'Churn: nanoseconds a further frame' 'flame, exact' 'the table of churn has the cost of a frame'
has_row 'Churn: two threads over one, per pair, depth 8' 'flame, exact' 'the table of churn has the factor of two threads'
has_row 'Memory added to blocks that are held' '64 B' 'memory added to small blocks'
has_row 'Memory added to blocks that are held' '1 MiB' 'memory added to large blocks'
file_has out 'Medians of 1 rounds\.$' 'the benchmark reports the number of rounds'
has_row 'Memory added to the programs, MB' 'cc1' 'memory added to programs'
has_row 'Bytes on disk, MB' 'jq' 'the table of bytes on disk has jq'
has_row 'From a recording to folded stacks, CPU seconds' 'cc1' 'the table of folding has cc1'
has_row 'From a recording to folded stacks, CPU seconds' 'a program with -g' 'the table of folding has a program with inlined frames'
has_row 'Recordings that carry their names, CPU seconds' 'cc1' 'the table of packed names has cc1'
has_row 'Tracing of blocking calls' 'futex: flame off' 'the table of traced calls has futex ping-pong'
has_row 'Tracing of blocking calls' 'pipe, one processor: flame off' 'the table of traced calls has pipe ping-pong'
file_has out '^\| off: attach to 20 threads and leave' 'the benchmark attaches to as many threads as it reports'
file_has out '^\| exact: slowdown, geometric mean +\| +at most 1\.20 \| +[0-9.]+ \| +(yes|no) \|$' \
    'the benchmark compares with the targets'
is_str "$(find b -name '*.flame' -o -name '*.raw')" '' 'the benchmark removes its recordings'
if command -v heaptrack >/dev/null; then
    # A program to which heaptrack adds nothing, in a run as short as this, has no number.
    has_row 'CPU added, as a fraction of what heaptrack adds' 'flame, exact' 'the table of heaptrack has flame, exact' any
else
    file_has out '^- missing: heaptrack' 'the benchmark names a missing recorder'
fi

mkdir perl
for script in flamegraph.pl stackcollapse-perf.pl difffolded.pl; do
    printf '#!/bin/sh\nsleep 0.2\n' >perl/$script
    chmod +x perl/$script
done
BENCH_RUNS=2 BENCH_ONLY=text,pictures FLAMEGRAPH=$SCRATCH/perl \
    run_expect_status 0 'the sections text and pictures succeed' "$python" "$bench" --tiny --dir "$SCRATCH/b"
for what in 'perf script' 'diff of' '100 stacks, [0-9]+ MB' '27 stacks, svg' '27 stacks, pprof' \
    '27 stacks, csv' '100 stacks, html'; do
    file_has out "^$what.* [0-9.]+ s  \([0-9.]+ to [0-9.]+\) +[0-9.]+ MiB\$" "the benchmark has seconds: $what"
done
file_has out '^  [0-9]+ MB/s \([0-9]+ to [0-9]+\)$' 'the benchmark has megabytes a second'
is_int "$(grep -cE '^  flame is [0-9.]+ times as fast \([0-9.]+ to [0-9.]+\)$' out)" 3 \
    'the benchmark has ratios with their spread'
# page_of STACKS: the page, as large as flame makes it, and its figures.
page_of() {
    local size
    "${CC:-gcc}" -O2 -o gen "$ROOT/bench/gen_folded.c"
    ./gen "$1" | "$FLAME" render -o "p$1.html" -
    size=$(($(wc -c <"p$1.html") / 1024))
    like "$(grep -A 1 "^the page of $1 stacks" out | tr '\n' ' ')" \
        "^the page of $1 stacks, $size KiB, in Chromium: open, until drawn +[0-9.]+ ms " \
        "the benchmark opens the page of $1 stacks under its own name"
}
if lacks=$("$ROOT/scripts/browser.sh"); then
    page_of 27
    page_of 100
else
    ok 'the benchmark reports a page that cannot be opened' \
        grep -qFx "the page of 27 stacks is not opened: $lacks" out
    [ "${CI-}" != true ] || skip browser "$lacks"
fi
printf '#!/bin/sh\ntrue | true\n' >configure
chmod +x configure
BENCH_RUNS=2 BENCH_ONLY=forks CONFIGURE=$SCRATCH/configure \
    run_expect_status 0 'the section forks succeeds' "$python" "$bench" --tiny --dir "$SCRATCH/b"
for what in 'a child that allocates and ends' 'a child that executes true'; do
    file_has out "^$what +[0-9.]+ us  \([0-9.]+ to [0-9.]+\)\$" "the benchmark has the plain time: $what"
done
is_int "$(grep -cE '^  flame, exact +-?[0-9.]+ us more ' out)" 2 "the benchmark has flame's time of forks"
file_has out '^60 children +[0-9.]+ s .* MiB$' 'the benchmark has the time of many children'
file_has out '^  at most [0-9.]+ MiB of disk at a time$' 'the benchmark has the disk use of many children'
file_has out '^folding 20 equal traces +[0-9.]+ s' 'the benchmark has the time of folding equal traces'
is_int "$(grep -cE '^configure, .* times as long' out)" 2 'the benchmark has the time of configure'
is_str "$(find b -name 'flame-bench.*')" '' 'the benchmark removes its inputs'
BENCH_RUNS=2 BENCH_ONLY=leaks SUITE='echo good' \
    run_expect_status 0 'the section leaks succeeds' "$python" "$bench" --tiny --dir "$SCRATCH/b"
for what in '4 test cases in one process' '4 test cases in 4 processes' 'echo good'; do
    file_has out "^$what +[0-9.]+ s  \([0-9.]+ to [0-9.]+\), [0-9.]+ s of CPU\$" \
        "the benchmark has the plain time: $what"
done
is_int "$(grep -cE '^  flame leak +[0-9.]+ times as long .*, [0-9.]+ times the CPU ' out)" 3 \
    'the benchmark has the time under flame leak'
is_int "$(grep -cE '^4 MiB: .* s of CPU  .* by the clock$' out)" 3 'the benchmark has the time of scans'
is_int "$(grep -cE '^a mark: .* waiting, .* 0 calls ended$' out)" 3 'the benchmark has the time of stops'
if command -v valgrind >/dev/null; then
    is_int "$(grep -cE '^  memcheck +[0-9.]+ times as long ' out)" 2 'the benchmark has the time of memcheck'
else
    file_has out '^  no valgrind to compare with$' 'the benchmark names a missing valgrind'
fi
BENCH_RUNS=1 BENCH_ONLY=leaks SUITE=false \
    run_expect_status 1 'the section leaks with a failing suite ends with status 1' \
        "$python" "$bench" --tiny --dir "$SCRATCH/b"
file_has err '^leaks.sh: false fails by itself$' 'the section leaks names the failing suite'
BENCH_RUNS=1 BENCH_ONLY=text FLAME=/bin/false \
    run_expect_status 1 'the section text with a failing flame ends with status 1' \
        "$python" "$bench" --tiny --dir "$SCRATCH/b"
file_has err '^bench: failed: text$' 'the benchmark names the failed section'

BENCH_RUNS=1 BENCH_ONLY=sqlite3,simulators \
    run_expect_status 0 'the sections sqlite3 and simulators succeed' \
        "$python" "$bench" --tiny --dir "$SCRATCH/b"
file_has out '^\| CPU +\| +sqlite3 \| geometric mean \|' 'the benchmark has a column for the one program'
if command -v valgrind >/dev/null; then
    has_row 'Slowdown under simulators, CPU time' 'sqlite3' 'the table of simulators has sqlite3'
else
    file_has out '^- missing: valgrind' 'the benchmark names a missing simulator'
fi
file_lacks out '^### Churn' 'the benchmark leaves out other sections'
done_testing
