#!/bin/bash
# flame off --in-process: calls that threads note themselves are not stopped for, and told as if they
# were; what cannot have the library is traced by stops, in the same run.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

for how in '-p 1' '-d 1 true' '--no-filter true'; do
    # shellcheck disable=SC2086 # words
    run "$FLAME" off --in-process $how
    is_int "$status" 2 "$how: refused"
    file_has err "^flame: off: --in-process is for commands, without -" 'with a reason'
done

noted() {
    "$FLAME" off --in-process "$@"
}
libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    run_expect_status 3 'a program with such a loader' noted -q -o x.folded -- sh -c 'exit 3'
    file_has err 'traced by stops alone: libflamegate.so is not where it is linked for' \
        'is said to be traced from outside'
    done_testing
fi

"${CC:-gcc}" -O1 -g -pthread -o pingpong "$ROOT/bench/pingpong.c"
stops() {
    sed -n 's/.*stopped the threads \([0-9,]*\) times.*/\1/p' err | tr -d ,
}
# The stacks of calls, without what they weigh, and without waits that there may be or not: a thread's
# for another's end, which is over before it begins if the other was faster, and for the disk.
stacks() {
    sed -n '/;\[/d; /^#/d; /;write \//d; /;__*pthread_[a-z]*join/d; s/ [0-9.]*$//p' "$1" | sort -u
}
# How often a program sleeps is the scheduler's business: its sleeps are held against what the kernel
# counted of the same run, where each stop is a switch as well, and its stops against those of a run by
# stops.
run_expect_status 0 'a program that notes its waits' noted -o noted.folded -- \
    /usr/bin/time -o switches -f %w ./pingpong futex 3000
few=$(stops) slept=$(grep -o 'slept [0-9,]*' err | tr -dc 0-9) switches=$(cat switches)
run_expect_status 0 'the same by stops' "$FLAME" off --no-in-process -o stopped.folded -- ./pingpong futex 3000
ok "is hardly stopped ($few times, not $(stops))" test $((few * 10)) -lt "$(stops)"
ok "and all its sleeps are told ($slept; it left its CPU $switches times)" \
    test "$slept" -gt 0 -a $((slept + 2 * few)) -ge "$switches"
# On one processor, a writer loses it to whom it wakes, which is no wait.
cpu=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
run taskset -c "$cpu" "$FLAME" off --no-in-process -o stopped.folded -- ./pingpong pipe 3000
many=$(stops)
run_expect_status 0 'one that notes its calls on pipes' taskset -c "$cpu" \
    "$FLAME" off --in-process -o noted.folded -- ./pingpong pipe 3000
# Its calls are cancellation points: glibc makes them itself from 2.41 on (inproc/syscall_mark.h).
if [ "${libc##*.}" -lt 41 ] || grep -q '^Seccomp_filters:' /proc/self/status; then
    ok "is hardly stopped, either ($(stops) times, not $many)" test $(($(stops) * 10)) -lt "$many"
else
    ok 'is stopped for them with this C library and kernel' test "$(stops)" -gt 6000
fi
reads=$(sum ';read pipe:' <noted.folded) writes=$(sum ';write pipe:' <noted.folded)
ok "it waits in its reads ($reads us) and not in its writes ($writes us)" \
    test "$reads" -gt $((writes * 10))
# A stack that is rare may be in one of two runs only.
same_stacks() { # DEPTH
    run noted -q --depth "$1" -o noted.folded -- ./pingpong futex 500
    run "$FLAME" off -q --no-in-process --depth "$1" -o stopped.folded -- ./pingpong futex 500
    [ "$(stacks noted.folded)" = "$(stacks stopped.folded)" ]
}
for depth in 16 1024; do
    again 3 same_stacks $depth
    ok "--depth $depth: there are stacks" test "$(stacks noted.folded | wc -l)" -ge 2
    is_str "$(stacks noted.folded)" "$(stacks stopped.folded)" "--depth $depth: as by stops"
done

# Calls of handlers inside of calls, some of which are noted and some of which stop. How long the
# interrupted sleep is, is in tests/cli/timed/t0905-interrupted-sleeps.sh.
compile_victim inner
same_sleeps() {
    OFF_HOW=--no-in-process off --min-block 0 ./inner
    oview off >stopped.folded
    OFF_HOW=--in-process off --min-block 0 ./inner
    is_int "$status" 0 'calls of handlers'
    oview off >noted.folded
    stacks noted.folded | grep 'nanosleep$' >noted.stacks
    stacks stopped.folded | grep 'nanosleep$' | cmp -s - noted.stacks
}
again 5 same_sleeps
is_str "$(cat noted.stacks)" "$(stacks stopped.folded | grep 'nanosleep$')" \
    'the sleeps have the same stacks'

# Waits that the end of the process ends have no record of their end. Some were told as time outside of
# calls, now and then: so five runs. (A thread that waits for a CPU on its way into its wait does not sleep yet.)
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
ok "waits that the end of the process ends are waits ($least of 100)" test "$least" -ge 90

# A call is named by what is behind its descriptor then, though all else about it is the same.
compile_victim swaps -pthread
# On a busy machine what a read waits for may be there before it waits, or sooner.
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
is_int "$status" 0 'a descriptor behind which things change'
ok "its reads of each are told as such ($least of 100)" test "$least" -ge 90
all_pipes() {
    OFF_HOW=--in-process off --objects ./swaps
    oview off >x.folded
    pipes=$(grep -o ';read pipe:\[[0-9]*\]' x.folded | sort -u | wc -l)
    [ "$pipes" -eq 20 ]
}
again 5 all_pipes
is_int "$pipes" 20 'with --objects, each of the pipes has its number'

# Where a thread's stack is, is known though nobody stopped it there. One that runs whenever it is looked
# at cannot be asked.
compile_victim ownstacks -pthread
all_on_stacks() {
    OFF_HOW=--in-process off ./ownstacks
    oview off >x.folded
    mine=$(sum ';waits;.*futex \[stack\]' <x.folded) other=$(sum ';waits;.*futex' <x.folded)
    [ "$mine" -eq "$other" ]
}
again 5 all_on_stacks
ok "conditions on stacks are told as such ($mine us)" test "$mine" -ge 5000000
is_int "$other" "$mine" 'all of them'

# A kernel's stack is that of the call which it is told with, not of the one that the thread is in when
# the other is told.
if cat /proc/self/stack >/dev/null 2>&1; then
    compile_victim alternates
    # A tracer without a CPU finds no thread in the call that it is told of.
    sleeps_have_kernel_stacks() {
        OFF_HOW=--in-process off --kernel ./alternates
        oview off >x.folded
        grep -q ';[^;]*nanosleep_\[k\];.*;nanosleep [0-9]*$' x.folded
    }
    ok 'kernel stacks of calls that are noted' again 5 sleeps_have_kernel_stacks
    is_int "$(grep 'poll_\[k\]' x.folded | grep -c ';nanosleep [0-9]*$')" 0 'of sleeps are of no poll'
    is_int "$(grep 'nanosleep_\[k\]' x.folded | grep -c ';poll 0 fds [0-9]*$')" 0 'and of polls of no sleep'
elif [ "$(id -u)" -ne 0 ]; then
    skip not-root 'kernel stacks may not be read'
fi

# Programs without the library, or that must not have it.
compile_victim nap
# A tracer that got no CPU meanwhile cannot tell a sleep from the stop behind it.
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
    is_str "$status $(cat err)" '0 ' "$what goes as it would, and nothing is said"
    ok "$what: $program is traced ($slept us, and $besides us on the way)" \
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
    run_expect_status 0 'the command itself' noted -q -o x.folded -- ./musl
    file_has err '^flame: \./musl uses musl; all its calls stop$' 'is said to be traced by stops'
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

# Processes that the command leaves behind go on, and what they execute is kept from harm.
run_expect_status 0 'processes that are left behind' noted -q -o x.folded -- \
    sh -c '(sleep 0.4; ./nap; [ ! -x musl ] || ./musl; echo done >left) & true'
until_true test -s left
is_str "$(cat left)" 'done' 'end as they would'

# Filters of the program's see its calls as the program makes them.
compile_victim confined -pthread
run_expect_status 0 'a program with filters of its own' noted -q -o x.folded -- ./confined
is_str "$(cat out)" fine 'whose calls are as it makes them'
is_str "$(cat err)" '' 'and whose notes are whole'

compile_victim firstcall -pthread
run_expect_status 0 'children that have their parents'"'"' memory' noted -o x.folded -- ./firstcall
file_lacks err 'cannot be' 'take no ring in it'
compile_victim sharestls
run_expect_status 0 'two that share thread-local memory' noted -o x.folded -- ./sharestls
file_lacks err 'cannot be' 'do not write into one ring'
ok 'their calls stop' test "$(stops)" -gt 2000

# Options by their old names.
run_expect_status 0 '--inside' "$FLAME" off --inside -q -o x.folded true
run_expect_status 2 'is --in-process' "$FLAME" off --inside -q -o x.folded -p $$
file_has err '^flame: .*--in-process is for commands' 'which it is called'
run_expect_status 0 '--no-inside is --no-in-process' "$FLAME" off --no-inside -q -o x.folded true

done_testing
