#!/usr/bin/env bash
# Page faults by the stack of who touched the pages: to the page what the program knows of itself.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/noperf.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim faults -O1 -pthread
head -c 131072 /dev/urandom >file

# The kernel waits for no reader: where the machine is busy, and the ring of a plain user is small, some
# may be lost, and so many are told. Mostly none are, if it is tried again.
none_lost() {
    run "$FLAME" mem --view fault "$@"
    if grep -q 'perf_event_open' err; then
        skip_all perf-sched 'the kernel tells no page faults here'
    fi
    lost=$(sed -n 's/.* and \([0-9,]*\) records lost.*/\1/p' err | tr -d ,)
    [ -z "$lost" ]
}
faults() {
    again 5 none_lost "$@"
    lost=${lost:-0}
}
# GOT WANT NAME: as many, but for those that were lost.
as_many() {
    ok "$3 ($1 of $2, $lost lost)" test "$1" -le "$2" -a $(($1 + lost)) -ge "$2"
}
# KIND: faults whose stack has a function.
by() {
    grep -F ";$1;" "${3:-x.folded}" | grep -F "[$2 fault]" | awk '{ n += $NF } END { printf "%d\n", n }'
}

faults -o x.folded -- ./faults "$SCRATCH/file"
is_int "$status" 0 'the command has its status'
gone=$(cat out)
is_str "$(head -1 x.folded)" '# flame: view=fault unit=faults' 'the view'
as_many "$(by first_touch minor)" 300 'pages that were not there'
is_int "$(by second_touch minor)" 0 'pages that were'
as_many "$(by touch_block minor)" 500 'a block is of who touches it'
ok 'and not of who allocated it' test "$(by make_block minor)" -le 20
as_many "$(by touch_in_thread minor)" 150 'a thread'
ok 'has the stack of a thread' grep -q '^faults;_*clone[0-9]*;start_thread;touch_in_thread;touch;\[minor fault\] [0-9]*$' x.folded
as_many "$(by copy_in_child minor)" 120 'a child copies what it writes to'
ok 'stacks begin where the program does' \
    grep -q '^faults;_start;.*;main;first_touch;touch;\[minor fault\] [0-9]*$' x.folded
if grep -q 'page faults within system calls are not counted' err; then
    is_int "$(by read_into minor)" 0 'what the kernel touches is not seen'
else
    as_many "$(by '[system call]' minor <(grep -F ';read_into;' x.folded))" 40 'the kernel touches for a call'
fi
if [ "$gone" -gt 0 ]; then
    as_many "$(by read_file_pages major)" "$gone" 'pages that a disk has'
else
    is_int "$(by read_file_pages major)" 0 'no page had to come from a disk'
fi
is_int "$(by first_touch major)" 0 'memory comes from no disk'

# Programs that are gone before anybody could ask them for anything.
faults -o x.folded -- sh -c "for i in 1 2 3; do ./faults $SCRATCH/file; done; exec true"
is_int "$status" 0 'several processes'
as_many "$(by first_touch minor)" 900 'are summed up'
is_str "$(sed -n 's/^\([a-z]*\);.*/\1/p' x.folded | sort -u | xargs)" 'faults sh true' 'each by its program'

# Most of these have ended before their first record is read.
faults -o x.folded -- sh -c 'i=0; while [ $i -lt 30 ]; do /bin/true; i=$((i + 1)); done'
all=$(grep '^true;' x.folded | awk '{ n += $NF } END { print n }')
torn=$(grep -F 'true;[stack incomplete];' x.folded | awk '{ n += $NF } END { printf "%d\n", n }')
ok 'short lives are recorded' test "$all" -ge 1000
ok 'and have stacks' test "$torn" -le $((all / 4))

faults -o x.flame -- ./faults "$SCRATCH/file"
ok 'traces are of programs and of faults' test -e x.2.flame
"$FLAME" fold --view fault x*.flame >y.folded
as_many "$(by first_touch minor y.folded)" 300 'and have them'
"$FLAME" fold --no-header --view count x*.flame >y.folded 2>err2
ok 'beside them is what was allocated' grep -q ';make_block 1$' y.folded
is_int "$(grep -c "minor fault" y.folded)" 0 'without the faults'
run "$FLAME" fold --view peak x*.flame
is_int "$status" 0 'the peak is there, too'
for t in x*.flame; do
    "$FLAME" dump -s row "$t"
done >rows
ok 'dump names the rows' grep -q 'flags=fault' rows

faults -o x.html -- ./faults "$SCRATCH/file"
ok 'a page has the view' grep -q '"name":"fault"' x.html

run_expect_status 2 'not with waiting' "$FLAME" run --view fault -o x.svg -- true
file_has err 'flame: run: --view fault: page faults are not recorded together with waiting' 'says so'
run_expect_status 0 'without the option' "$FLAME" mem -o y.flame -- true
run_expect_status 2 'there are none' "$FLAME" fold --view fault y.flame
file_has err 'recorded without page faults, which flame mem --view fault records' 'says so'

# Where the kernel refuses, nothing runs.
run_expect_status 1 'perf_event_open is refused' python3 noperf.py "$FLAME" mem --view fault -o z.svg -- touch ran
is_str "$(cat err)" "flame: mem: --view fault: perf_event_open is refused, as by a container's \
seccomp filter; allow it there, or run outside" 'one line says why'
not_ok 'nothing ran' test -e ran
not_ok 'and nothing was made' test -e z.svg

done_testing
