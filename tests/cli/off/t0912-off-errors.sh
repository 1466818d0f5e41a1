#!/bin/bash
# Processes that cannot be traced: one line that says why and what to do, exit 2, the target
# untouched.
. "${0%/*}/../lib.sh"

# refused_process NAME REGEX PID [COMMAND...]: by flame run under COMMAND.
refused_process() {
    local name=$1 regex=$2 pid=$3
    shift 3
    run "$@" "$FLAME" off -o x.svg -d 0.1 -p "$pid"
    is_int "$status" 2 "$name: exit 2"
    is_int "$(grep -c . "$SCRATCH/err")" 1 "$name: one line"
    file_has "$SCRATCH/err" "^flame: process $pid:? $regex" "$name: says so"
    ok "$name: nothing is written" test ! -e x.svg
}

sleep 60 &
pid=$!
mkdir open
chmod 777 open

kill "$pid"
wait "$pid"
refused_process 'an id that is free' 'there is no such process' "$pid"

# A shell would wait for it: it ends when its parent has become something else.
# shellcheck disable=SC2016 # the inner shell's
(sh -c 'until grep -qx sleep "/proc/$PPID/comm"; do sleep 0.01; done' & echo $! >zombie; exec sleep 60) &
holder=$!
until_true test -s zombie
until_true grep -q "^State:.Z" "/proc/$(cat zombie)/status"
refused_process 'a zombie' 'has ended and waits for its parent' "$(cat zombie)"
kill "$holder"

if grep -q kthreadd /proc/2/comm 2>/dev/null; then
    refused_process 'a kernel thread' 'is a thread of the kernel' 2
else
    skip pid-namespace 'no kernel threads here'
fi

sleep 60 &
pid=$!
"$FLAME" off -q -o first.svg -d 20 -p "$pid" 2>first.err </dev/null &
first=$!
until_traced "$pid"
refused_process 'one that is traced' 'is already traced by flame \(process [0-9]+\)' "$pid"
kill -TERM "$first"
wait "$first"

# One of several cannot be traced: the others are let go.
run "$FLAME" off -o x.svg -d 0.1 -p "$pid,$(cat zombie)"
is_int "$status" 2 'one of two: exit 2'
file_has "/proc/$pid/status" '^TracerPid:.0' 'the other is not traced'
until_true grep -q '^State:.S' "/proc/$pid/status" # it may still be on its way back to sleep
file_has "/proc/$pid/status" '^State:.S' 'nor stopped'

compile_victim idlers -pthread
mkfifo hold
./idlers 1 <hold >said &
idlers=$!
exec 3>hold
until_true grep -q ready said
thread=$(find "/proc/$idlers/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vx "$idlers")
run "$FLAME" off -o x.svg -d 0.1 -p "$thread"
is_int "$status" 2 "a thread's id: exit 2"
file_has "$SCRATCH/err" "^flame: $thread is a thread of process $idlers; use -p $idlers" 'says whose'
exec 3>&-

# A container's filter forbids ptrace itself, and no capability would help.
compile_victim forbids
refused_process 'under a filter' 'may not be traced: a seccomp filter over this flame forbids ptrace' \
    "$pid" ./forbids
run ./forbids "$FLAME" off -o x.svg -- sleep 1
is_int "$status" 2 'a command under it: exit 2'
is_int "$(grep -c . "$SCRATCH/err")" 1 'one line'
file_has "$SCRATCH/err" '^flame: sleep cannot be traced: a seccomp filter over this flame' 'the same reason'

chmod 755 "$SCRATCH"
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups env TMPDIR="$SCRATCH/open")
if [ "$(id -u)" -ne 0 ] || ! setpriv --version >/dev/null; then
    skip not-root 'only root can become somebody else'
elif ! "${nobody[@]}" test -x "$SCRATCH/open"; then
    skip closed-tmpdir "nobody but root may enter ${TMPDIR:-/tmp}"
else
    # The checkout may lie where only root can go, such as root's home.
    cp "$FLAME" "${FLAME%/*}"/libflame{gate,wait}.so open
    FLAME=$SCRATCH/open/flame
    cd open || exit 1
    refused_process "somebody else's" 'belongs to user 0: trace it as that user, as root' "$pid" \
        "${nobody[@]}"
    # Its own, but not dumpable: it may not be traced without a capability.
    cp "$(command -v sleep)" "$SCRATCH/open/unreadable"
    chmod 711 "$SCRATCH/open/unreadable"
    "${nobody[@]}" ./unreadable 60 &
    own=$!
    until_true grep -qx unreadable "/proc/$own/comm"
    refused_process 'one that may not be read' 'may not be traced: CAP_SYS_PTRACE is needed' \
        "$own" "${nobody[@]}"
    kill "$own"

    run_expect_status 0 'kernel stacks for a plain user' "${nobody[@]}" "$FLAME" off --kernel \
        -o y.folded -- sleep 0.1
    file_has "$SCRATCH/err" '^flame: --kernel: .* cannot be read: .*, as that takes root' \
        'are not there, and it is said'
    ok 'and the rest is' grep -q nanosleep y.folded
    # A tracer that gets no CPU meanwhile does not see it asleep.
    naps=(0.1 1 4)
    kernel_stack() {
        run "$FLAME" off --kernel -o y.folded -- sleep "${naps[0]}"
        naps=("${naps[@]:1}")
        grep -q '_\[k\]' y.folded
    }
    if cat /proc/self/stack >/dev/null 2>&1; then
        again 3 kernel_stack
        file_lacks "$SCRATCH/err" '--kernel' 'for root nothing is said'
        ok 'and they are there' grep -q '_\[k\]' y.folded
    else
        kernel_stack
        file_has "$SCRATCH/err" '^flame: --kernel: ' 'for root of a container it is the same'
    fi
    rm -f y.folded

    # Set-user-id programs: nothing of them has run.
    cp "$(command -v touch)" gain
    chown root gain
    chmod 4755 gain
    run "${nobody[@]}" "$FLAME" off -o x.svg -- ./gain touched
    is_int "$status" 2 'a set-user-id program: exit 2'
    file_has "$SCRATCH/err" '^flame: ./gain: is set-user-id .*as root with --no-filter$' 'says so'
    ok 'and has not run' test ! -e touched
    chown 65534 gain
    chmod 4755 gain
    run "$FLAME" off -o x.svg -- ./gain touched
    is_int "$status" 2 'for root too, when it is under the filter: exit 2'
    file_has "$SCRATCH/err" '^flame: ./gain: is set-user-id .*; use --no-filter$' 'says what helps'
    ok 'and has not run either' test ! -e touched
    run_expect_status 0 'without a filter it runs' "$FLAME" off -q -o x.svg --no-filter -- \
        ./gain touched
    is_str "$(stat -c %u touched)" 65534 'with the privileges of its owner'
    rm -f touched
    run_expect_status 0 'a child that is set-user-id' "$FLAME" off -o x.svg -- \
        sh -c './gain touched; true'
    file_has "$SCRATCH/err" '^flame: .*/gain \(process [0-9]+\) runs without the privileges' 'is warned of'
    # One's own bit gains nothing, so it is nothing.
    run_expect_status 0 "one's own" "${nobody[@]}" "$FLAME" off -q -o y.svg -- ./gain mine
    cd ..
fi

run "$FLAME" off -o x.svg -- "$SCRATCH/open"
is_int "$status" 2 'a directory is no command'
printf '#!/nonexistent/shell\n' >text
chmod 755 text
run "$FLAME" off -o x.svg -- ./text
is_int "$status" 2 'nor is this'
is_int "$(grep -c . "$SCRATCH/err")" 1 'which takes one line'
file_has "$SCRATCH/err" '^flame: ./text: cannot be run: No such file' 'to say'
kill "$pid"
done_testing
