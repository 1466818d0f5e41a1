#!/bin/bash
# flame off --in-process: calls that threads log themselves need no stop, and are reported as if they
# did; a process that cannot have the library is traced by stops, in the same run.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

for how in '-p 1' '-d 1 true' '--no-filter true'; do
    # shellcheck disable=SC2086 # words
    run "$FLAME" off --in-process $how
    is_int "$status" 2 "flame off --in-process $how ends with status 2"
    file_has err "^flame: off: --in-process is for commands, without -" \
        "flame off --in-process $how says what --in-process is for"
done

noted() {
    "$FLAME" off --in-process "$@"
}
libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    run_expect_status 3 'flame off --in-process with an old loader runs the command' \
        noted -q -o x.folded -- sh -c 'exit 3'
    file_has err 'traced by stops alone: libflamegate.so is not where it is linked for' \
        'flame off --in-process with an old loader says that it traces by stops'
    done_testing
fi

"${CC:-gcc}" -O1 -g -pthread -o pingpong "$ROOT/bench/pingpong.c"
stops() {
    sed -n 's/.*stopped the threads \([0-9,]*\) times.*/\1/p' err | tr -d ,
}
# The stacks of calls, without their counts, and without waits that depend on timing: a thread's
# join of another thread, which does not wait if that one was faster, and the disk's.
stacks() {
    sed -n '/;\[/d; /^#/d; /;write \//d; /;__*pthread_[a-z]*join/d; s/ [0-9.]*$//p' "$1" | sort -u
}
# How often a program sleeps depends on the scheduler: its sleeps are compared with what the kernel
# counted of the same run, where each stop is a switch as well, and its stops against those of a run by
# stops.
run_expect_status 0 'flame off --in-process traces futex waits' noted -o noted.folded -- \
    /usr/bin/time -o switches -f %w ./pingpong futex 3000
few=$(stops) slept=$(grep -o 'slept [0-9,]*' err | tr -dc 0-9) switches=$(cat switches)
run_expect_status 0 'flame off --no-in-process traces futex waits' \
    "$FLAME" off --no-in-process -o stopped.folded -- ./pingpong futex 3000
ok "--in-process stops for few futex waits ($few times, not $(stops))" test $((few * 10)) -lt "$(stops)"
ok "--in-process counts each sleep ($slept; the program left its CPU $switches times)" \
    test "$slept" -gt 0 -a $((slept + 2 * few)) -ge "$switches"
# On one processor, a writer loses it to the thread that it wakes, which is no wait.
cpu=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
run taskset -c "$cpu" "$FLAME" off --no-in-process -o stopped.folded -- ./pingpong pipe 3000
many=$(stops)
run_expect_status 0 'flame off --in-process traces waits on pipes' taskset -c "$cpu" \
    "$FLAME" off --in-process -o noted.folded -- ./pingpong pipe 3000
# Its calls are cancellation points: glibc makes them itself from 2.41 on (inproc/syscall_mark.h).
if [ "${libc##*.}" -lt 41 ] || grep -q '^Seccomp_filters:' /proc/self/status; then
    ok "--in-process stops for few calls on pipes ($(stops) times, not $many)" \
        test $(($(stops) * 10)) -lt "$many"
else
    ok '--in-process stops for calls on pipes with this C library and kernel' test "$(stops)" -gt 6000
fi
reads=$(sum ';read pipe:' <noted.folded) writes=$(sum ';write pipe:' <noted.folded)
ok "--in-process: pingpong waits in its reads ($reads us), not in its writes ($writes us)" \
    test "$reads" -gt $((writes * 10))
# A stack that is rare may be in one of two runs only.
same_stacks() { # DEPTH
    run noted -q --depth "$1" -o noted.folded -- ./pingpong futex 500
    run "$FLAME" off -q --no-in-process --depth "$1" -o stopped.folded -- ./pingpong futex 500
    [ "$(stacks noted.folded)" = "$(stacks stopped.folded)" ]
}
for depth in 16 1024; do
    again 3 same_stacks $depth
    ok "--in-process --depth $depth records stacks" test "$(stacks noted.folded | wc -l)" -ge 2
    is_str "$(stacks noted.folded)" "$(stacks stopped.folded)" \
        "--in-process --depth $depth has the stacks of tracing by stops"
done

# Signal handlers make calls during calls; some of these are logged and some stop. How long the
# interrupted sleep is, is in tests/cli/timed/t0905-interrupted-sleeps.sh.
compile_victim inner
same_sleeps() {
    OFF_HOW=--no-in-process off --min-block 0 ./inner
    oview off >stopped.folded
    OFF_HOW=--in-process off --min-block 0 ./inner
    is_int "$status" 0 'flame off --in-process of calls in signal handlers succeeds'
    oview off >noted.folded
    stacks noted.folded | grep 'nanosleep$' >noted.stacks
    stacks stopped.folded | grep 'nanosleep$' | cmp -s - noted.stacks
}
again 5 same_sleeps
is_str "$(cat noted.stacks)" "$(stacks stopped.folded | grep 'nanosleep$')" \
    '--in-process: sleeps of signal handlers have the stacks of tracing by stops'

# Waits that the end of the process ends have no record of their end. Some were counted as time outside
# calls in some runs: so five runs. (A thread that waits for a CPU before its wait does not sleep yet.)
compile_victim leftasleep -pthread
all_left_asleep() {
    least=100
    for _ in 1 2 3 4 5; do
        OFF_HOW=--in-process off ./leftasleep
        read -r on_futex for_pipe <out
        for what in "waits_on_a_futex $on_futex" "waits_for_a_pipe $for_pipe"; do
            told=$(oview off | sum ";${what% *};") truth=${what#* }
            percent=$((truth > 0 ? told * 100 / truth : 0))
            [ "$least" -lt "$percent" ] || least=$percent
        done
    done
    [ "$least" -ge 90 ]
}
again 3 all_left_asleep
ok "--in-process: waits that end with the process count as waits ($least of 100)" test "$least" -ge 90

# A call has the name of the object behind its descriptor at that time.
compile_victim swaps -pthread
# On a busy machine the data of a read may be there before it waits, or early in its wait.
told_as_such() {
    OFF_HOW=--in-process off ./swaps
    oview off >x.folded
    least=100
    for what in 'pipe:.* 40000' 'eventfd 80000' 'unix.* 160000'; do
        percent=$(($(sum ";read ${what% *}" <x.folded) * 100 / ${what##* }))
        [ "$least" -lt "$percent" ] || least=$percent
    done
    [ "$status" -ne 0 ] || [ "$least" -ge 90 ]
}
again 5 told_as_such
is_int "$status" 0 'flame off --in-process of a descriptor that changes its object succeeds'
ok "--in-process: each read has the object of its time ($least of 100)" test "$least" -ge 90
all_pipes() {
    OFF_HOW=--in-process off --objects ./swaps
    oview off >x.folded
    pipes=$(grep -o ';read pipe:\[[0-9]*\]' x.folded | sort -u | wc -l)
    [ "$pipes" -eq 20 ]
}
again 5 all_pipes
is_int "$pipes" 20 '--in-process --objects numbers each of 20 pipes'

# The address range of a thread's stack is known without a stop. A thread that runs at each sample
# cannot be read.
compile_victim ownstacks -pthread
all_on_stacks() {
    OFF_HOW=--in-process off ./ownstacks
    oview off >x.folded
    mine=$(sum ';waits;.*futex \[stack\]' <x.folded) other=$(sum ';waits;.*futex' <x.folded)
    [ "$mine" -eq "$other" ]
}
again 5 all_on_stacks
ok "--in-process: conditions on stacks are shown as [stack] ($mine us)" test "$mine" -ge 5000000
is_int "$other" "$mine" '--in-process: all waits for conditions on stacks are shown as [stack]'

# A kernel stack belongs to the call that it is reported with, not to the call that the thread is in when
# the tracer reads the record.
if cat /proc/self/stack >/dev/null 2>&1; then
    compile_victim alternates
    # A tracer that gets no CPU finds the thread in another call than the record's.
    sleeps_have_kernel_stacks() {
        OFF_HOW=--in-process off --kernel ./alternates
        oview off >x.folded
        grep -q ';[^;]*nanosleep_\[k\];.*;nanosleep [0-9]*$' x.folded
    }
    ok '--in-process --kernel: logged calls have kernel stacks' again 5 sleeps_have_kernel_stacks
    is_int "$(grep 'poll_\[k\]' x.folded | grep -c ';nanosleep [0-9]*$')" 0 \
        '--in-process --kernel: no sleep has the kernel stack of a poll'
    is_int "$(grep 'nanosleep_\[k\]' x.folded | grep -c ';poll 0 fds [0-9]*$')" 0 \
        '--in-process --kernel: no poll has the kernel stack of a sleep'
elif [ "$(id -u)" -ne 0 ]; then
    skip not-root 'kernel stacks may not be read'
fi

# Programs without the library, or that must not have it.
compile_victim nap
# A tracer that gets no CPU meanwhile cannot distinguish a sleep from the stop after it.
nap_is_seen() { # PROGRAM COMMAND...
    run noted -q -o x.flame -- "${@:2}"
    slept=$("$FLAME" fold --no-header x.flame | sum "^$1;.*nanosleep")
    besides=$(besides "comm=^$1\$" x.flame)
    [ "$status" -ne 0 ] || [ "$slept" -ge 40000 ]
}
naps() { # PROGRAM WHAT COMMAND...
    local program=$1 what=$2 slept besides
    shift 2
    again 5 nap_is_seen "$program" "$@"
    is_str "$status $(cat err)" '0 ' "--in-process, $what: the command succeeds and flame prints nothing"
    ok "--in-process, $what: $program is traced ($slept us, and $besides us on the way)" \
        test "$slept" -ge 40000 -a $((slept + besides)) -ge 49000
}
naps nap 'a cleared environment' env -i ./nap
"${CC:-gcc}" -static -g -o static "$ROOT/tests/victims/off/nap.c"
naps static 'a static child' sh -c './static; true'
if type musl-gcc >/dev/null 2>&1; then
    musl-gcc -g -o musl "$ROOT/tests/victims/off/nap.c"
    for how in './musl; true' 'exec ./musl' 'exec env ./musl'; do
        naps musl "another C library: $how" sh -c "$how"
    done
    run_expect_status 0 'flame off --in-process of a musl program succeeds' noted -q -o x.folded -- ./musl
    file_has err '^flame: \./musl uses musl; all its calls stop$' \
        'flame off --in-process says that a musl program is traced by stops'
else
    skip musl 'there is no musl-gcc'
fi
if "${CC:-gcc}" -fsanitize=address -o checked "$ROOT/tests/victims/off/nap.c" 2>/dev/null; then
    export ASAN_OPTIONS=detect_leaks=0
    # shellcheck disable=SC2016 # the shell's that is traced
    naps checked 'a child with a sanitizer' sh -c './checked; exit $?'
else
    skip sanitizer 'this compiler has none'
fi

# Processes that the command leaves behind continue, and the programs that they execute work.
run_expect_status 0 'flame off --in-process of a command that leaves a process behind succeeds' \
    noted -q -o x.folded -- \
    sh -c '(sleep 0.4; ./nap; [ ! -x musl ] || ./musl; echo done >left) & true'
until_true test -s left
is_str "$(cat left)" 'done' '--in-process: a process left behind runs to its end'

# Filters of the program's see its calls as the program makes them.
compile_victim confined -pthread
run_expect_status 0 'flame off --in-process of a program with seccomp filters succeeds' \
    noted -q -o x.folded -- ./confined
is_str "$(cat out)" fine "--in-process: seccomp filters see the program's calls unchanged"
is_str "$(cat err)" '' '--in-process: the logged calls of a program with seccomp filters are complete'

compile_victim firstcall -pthread
run_expect_status 0 "flame off --in-process of children that share their parents' memory succeeds" \
    noted -o x.folded -- ./firstcall
file_lacks err 'cannot be' "--in-process: children that share their parents' memory take no ring in it"
compile_victim sharestls
run_expect_status 0 'flame off --in-process of threads that share thread-local memory succeeds' \
    noted -o x.folded -- ./sharestls
file_lacks err 'cannot be' '--in-process: threads that share thread-local memory do not write into one ring'
ok '--in-process: calls of threads that share thread-local memory stop' test "$(stops)" -gt 2000

# Options by their old names.
run_expect_status 0 'flame off --inside succeeds' "$FLAME" off --inside -q -o x.folded true
run_expect_status 2 'flame off --inside -p ends with status 2, as --in-process does' \
    "$FLAME" off --inside -q -o x.folded -p $$
file_has err '^flame: .*--in-process is for commands' 'flame off --inside -p: the error names --in-process'
run_expect_status 0 'flame off --no-inside is an alias of --no-in-process' \
    "$FLAME" off --no-inside -q -o x.folded true

done_testing
