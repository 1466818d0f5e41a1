#!/usr/bin/env bash
# Page faults by the stack that touched the pages: exact to the page by the program's own count.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/noperf.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim faults -O1 -pthread
head -c 131072 /dev/urandom >file

# The kernel does not wait for the reader: on a busy machine, with the small ring of a plain user, some
# records may be lost, and are counted. Mostly none are lost in another try.
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
# GOT WANT NAME: equal, except for lost records.
as_many() {
    ok "$3 ($1 of $2, $lost lost)" test "$1" -le "$2" -a $(($1 + lost)) -ge "$2"
}
# KIND: faults whose stack has a function.
by() {
    grep -F ";$1;" "${3:-x.folded}" | grep -F "[$2 fault]" | awk '{ n += $NF } END { printf "%d\n", n }'
}

faults -o x.folded -- ./faults "$SCRATCH/file"
is_int "$status" 0 "flame mem --view fault ends with the command's status"
gone=$(cat out)
is_str "$(head -1 x.folded)" '# flame: view=fault unit=faults' \
    'the result of flame mem --view fault has that view'
as_many "$(by first_touch minor)" 300 'the first touch of a page is a fault'
is_int "$(by second_touch minor)" 0 'the second touch of a page is no fault'
as_many "$(by touch_block minor)" 500 'a fault counts for the stack that touches the block'
ok 'a fault does not count for the stack that allocated the block' test "$(by make_block minor)" -le 20
as_many "$(by touch_in_thread minor)" 150 'faults of a thread count'
ok "a fault of a thread has the thread's stack" \
    grep -q '^faults;_*clone[0-9]*;start_thread;touch_in_thread;touch;\[minor fault\] [0-9]*$' x.folded
as_many "$(by copy_in_child minor)" 120 'pages that a child writes to are faults'
ok "a fault's stack begins at the start of the program" \
    grep -q '^faults;_start;.*;main;first_touch;touch;\[minor fault\] [0-9]*$' x.folded
if grep -q 'page faults within system calls are not counted' err; then
    is_int "$(by read_into minor)" 0 'faults within system calls are not counted'
else
    as_many "$(by '[system call]' minor <(grep -F ';read_into;' x.folded))" 40 'faults within system calls count'
fi
if [ "$gone" -gt 0 ]; then
    as_many "$(by read_file_pages major)" "$gone" 'pages read from a disk are major faults'
else
    is_int "$(by read_file_pages major)" 0 'no page had to come from a disk'
fi
is_int "$(by first_touch major)" 0 'anonymous memory has no major faults'

# Programs that end before flame can read anything of them.
faults -o x.folded -- sh -c "for i in 1 2 3; do ./faults $SCRATCH/file; done; exec true"
is_int "$status" 0 'flame mem --view fault of several processes succeeds'
as_many "$(by first_touch minor)" 900 'faults of several processes are summed'
is_str "$(sed -n 's/^\([a-z]*\);.*/\1/p' x.folded | sort -u | xargs)" 'faults sh true' \
    'faults of several processes have their programs at the root'

# Most of these have ended before their first record is read.
faults -o x.folded -- sh -c 'i=0; while [ $i -lt 30 ]; do /bin/true; i=$((i + 1)); done'
all=$(grep '^true;' x.folded | awk '{ n += $NF } END { print n }')
torn=$(grep -F 'true;[stack incomplete];' x.folded | awk '{ n += $NF } END { printf "%d\n", n }')
ok 'faults of short-lived processes are recorded' test "$all" -ge 1000
ok 'faults of short-lived processes have stacks' test "$torn" -le $((all / 4))

faults -o x.flame -- ./faults "$SCRATCH/file"
ok 'flame mem --view fault -o x.flame writes traces of programs and of faults' test "$(traces_in x.flame | wc -l)" = 2
"$FLAME" fold --view fault x*.flame >y.folded
as_many "$(by first_touch minor y.folded)" 300 'traces of faults have the faults'
"$FLAME" fold --no-header --view count x*.flame >y.folded 2>err2
ok 'traces of programs beside the faults have the allocations' grep -q ';make_block 1$' y.folded
is_int "$(grep -c "minor fault" y.folded)" 0 'the view of calls lacks the faults'
run "$FLAME" fold --view peak x*.flame
is_int "$status" 0 'fold --view peak of traces with faults succeeds'
for t in x.flame/1 x.flame/2; do
    "$FLAME" dump -s row "$t"
done >rows
ok 'dump names rows of faults' grep -q 'flags=fault' rows

faults -o x.html -- ./faults "$SCRATCH/file"
ok 'the page of flame mem --view fault has that view' grep -q '"name":"fault"' x.html

run_expect_status 2 'flame run --view fault ends with status 2' "$FLAME" run --view fault -o x.svg -- true
file_has err 'flame: run: --view fault: page faults are not recorded together with waiting' \
    'flame run --view fault says why'
run_expect_status 0 'flame mem without --view fault succeeds' "$FLAME" mem -o y.flame -- true
run_expect_status 2 'fold --view fault of a trace without faults ends with status 2' \
    "$FLAME" fold --view fault y.flame
file_has err 'recorded without page faults, which flame mem --view fault records' \
    'fold --view fault of a trace without faults says why'

# Where the kernel refuses, nothing runs.
run_expect_status 1 'flame mem --view fault without perf_event_open ends with status 1' \
    python3 noperf.py "$FLAME" mem --view fault -o z.svg -- touch ran
is_str "$(cat err)" "flame: mem: --view fault: perf_event_open is refused, as by a container's \
seccomp filter; allow it there, or run outside" 'flame mem --view fault without perf_event_open says why'
not_ok 'flame mem --view fault without perf_event_open does not run the command' test -e ran
not_ok 'flame mem --view fault without perf_event_open writes no file' test -e z.svg

done_testing
