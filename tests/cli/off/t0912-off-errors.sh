#!/bin/bash
# Processes that cannot be traced: one line that says why and what to do, exit 2, the target
# untouched.
. "${0%/*}/../lib.sh"

# refused_process NAME REGEX PID [COMMAND...]: by flame run under COMMAND.
refused_process() {
    local name=$1 regex=$2 pid=$3
    shift 3
    run "$@" "$FLAME" off -o x.svg -d 0.1 -p "$pid"
    is_int "$status" 2 "$name: flame off ends with status 2"
    is_int "$(grep -c . "$SCRATCH/err")" 1 "$name: flame off prints one line"
    file_has "$SCRATCH/err" "^flame: process $pid:? $regex" "$name: flame off says why it cannot trace"
    ok "$name: flame off writes no file" test ! -e x.svg
}

sleep 60 &
pid=$!
mkdir open
chmod 777 open

kill "$pid"
wait "$pid"
refused_process 'an unused process id' 'there is no such process' "$pid"

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
refused_process 'a process that is traced already' 'is already traced by flame \(process [0-9]+\)' "$pid"
kill -TERM "$first"
wait "$first"

# One of several processes cannot be traced: flame detaches from the others.
run "$FLAME" off -o x.svg -d 0.1 -p "$pid,$(cat zombie)"
is_int "$status" 2 'flame off -p of a process and a zombie ends with status 2'
file_has "/proc/$pid/status" '^TracerPid:.0' 'flame off -p that fails detaches from the other process'
until_true grep -q '^State:.S' "/proc/$pid/status" # it may still be on its way back to sleep
file_has "/proc/$pid/status" '^State:.S' 'flame off -p that fails does not leave the other process stopped'

compile_victim idlers -pthread
mkfifo hold
./idlers 1 <hold >said &
idlers=$!
exec 3>hold
until_true grep -q ready said
thread=$(find "/proc/$idlers/task" -mindepth 1 -maxdepth 1 -printf '%f\n' | grep -vx "$idlers")
run "$FLAME" off -o x.svg -d 0.1 -p "$thread"
is_int "$status" 2 "flame off -p with a thread's id ends with status 2"
file_has "$SCRATCH/err" "^flame: $thread is a thread of process $idlers; use -p $idlers" \
    "flame off -p with a thread's id names its process"
exec 3>&-

# A container's filter forbids ptrace itself, and no capability would help.
compile_victim forbids
refused_process 'a process, under a filter that forbids ptrace' 'may not be traced: a seccomp filter over this flame forbids ptrace' \
    "$pid" ./forbids
run ./forbids "$FLAME" off -o x.svg -- sleep 1
is_int "$status" 2 'flame off of a command under a filter ends with status 2'
is_int "$(grep -c . "$SCRATCH/err")" 1 'flame off of a command under a filter prints one line'
file_has "$SCRATCH/err" '^flame: sleep cannot be traced: a seccomp filter over this flame' \
    'flame off of a command under a filter names the filter'

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
    refused_process "another user's process" 'belongs to user 0: trace it as that user, as root' "$pid" \
        "${nobody[@]}"
    # Its own, but not dumpable: it may not be traced without a capability.
    cp "$(command -v sleep)" "$SCRATCH/open/unreadable"
    chmod 711 "$SCRATCH/open/unreadable"
    "${nobody[@]}" ./unreadable 60 &
    own=$!
    until_true grep -qx unreadable "/proc/$own/comm"
    refused_process 'a process that is not dumpable' 'may not be traced: CAP_SYS_PTRACE is needed' \
        "$own" "${nobody[@]}"
    kill "$own"

    run_expect_status 0 'flame off --kernel of a plain user succeeds' "${nobody[@]}" "$FLAME" off --kernel \
        -o y.folded -- sleep 0.1
    file_has "$SCRATCH/err" '^flame: --kernel: .* cannot be read: .*, as that takes root' \
        'flame off --kernel of a plain user reports that kernel stacks are missing'
    ok 'flame off --kernel of a plain user has the user stacks' grep -q nanosleep y.folded
    # A tracer that gets no CPU meanwhile does not see it asleep.
    naps=(0.1 1 4)
    kernel_stack() {
        run "$FLAME" off --kernel -o y.folded -- sleep "${naps[0]}"
        naps=("${naps[@]:1}")
        grep -q '_\[k\]' y.folded
    }
    if cat /proc/self/stack >/dev/null 2>&1; then
        again 3 kernel_stack
        file_lacks "$SCRATCH/err" '--kernel' 'flame off --kernel of root reports no error'
        ok 'flame off --kernel of root has kernel stacks' grep -q '_\[k\]' y.folded
    else
        kernel_stack
        file_has "$SCRATCH/err" '^flame: --kernel: ' \
            "flame off --kernel of a container's root reports that kernel stacks are missing"
    fi
    rm -f y.folded

    # Set-user-id programs do not run at all.
    cp "$(command -v touch)" gain
    chown root gain
    chmod 4755 gain
    run "${nobody[@]}" "$FLAME" off -o x.svg -- ./gain touched
    is_int "$status" 2 'flame off of a set-user-id program ends with status 2'
    file_has "$SCRATCH/err" '^flame: ./gain: is set-user-id .*as root with --no-filter$' \
        'flame off of a set-user-id program says why'
    ok 'flame off does not run a set-user-id program' test ! -e touched
    chown 65534 gain
    chmod 4755 gain
    run "$FLAME" off -o x.svg -- ./gain touched
    is_int "$status" 2 'flame off of root, of a set-user-id program, ends with status 2'
    file_has "$SCRATCH/err" '^flame: ./gain: is set-user-id .*; use --no-filter$' \
        'flame off of root, of a set-user-id program, proposes --no-filter'
    ok 'flame off of root does not run a set-user-id program under the filter' test ! -e touched
    run_expect_status 0 'flame off --no-filter runs a set-user-id program' \
        "$FLAME" off -q -o x.svg --no-filter -- \
        ./gain touched
    is_str "$(stat -c %u touched)" 65534 \
        "flame off --no-filter of root: a set-user-id program has its owner's privileges"
    rm -f touched
    run_expect_status 0 'flame off of a command with a set-user-id child succeeds' "$FLAME" off -o x.svg -- \
        sh -c './gain touched; true'
    file_has "$SCRATCH/err" '^flame: .*/gain \(process [0-9]+\) runs without the privileges' \
        'flame off warns that a set-user-id child runs without privileges'
    # The bit of a user's own program gives no privileges, so it is no error.
    run_expect_status 0 'flame off runs a set-user-id program of the same user' \
        "${nobody[@]}" "$FLAME" off -q -o y.svg -- ./gain mine
    cd ..
fi

run "$FLAME" off -o x.svg -- "$SCRATCH/open"
is_int "$status" 2 'flame off of a directory ends with status 2'
printf '#!/nonexistent/shell\n' >text
chmod 755 text
run "$FLAME" off -o x.svg -- ./text
is_int "$status" 2 'flame off of a script without its interpreter ends with status 2'
is_int "$(grep -c . "$SCRATCH/err")" 1 'flame off of a script without its interpreter prints one line'
file_has "$SCRATCH/err" '^flame: ./text: cannot be run: No such file' \
    'flame off of a script without its interpreter says why'
kill "$pid"
done_testing
