#!/bin/bash
# The critical path leads to the thread that ended a wait by ending a process: by SIGKILL, exit, exec, a signal
# that ends a process, or as the last one that had a pipe, a lock or a robust mutex. Each program's
# path is that of the function works, with calls logged in-process and by stops.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim endings -pthread

# The path is made of the sleep in works, without the threads that waited for it.
holds() {
    local got told
    got=$(grep -E ';works;.*nanosleep [0-9]+$' path | sum .)
    told=$(awk '$1 == "works" { print $2 }' out)
    [ "$got" -ge 108000 ] && [ "$got" -le $((told + 1)) ] && ! grep -q '_for_ever' path &&
        [ "$(grep -E ';(read|poll|flock|futex|wait4) ' path | sum .)" -le $((got / 10)) ]
}

path_is_right() {
    off ./endings "$1"
    "$FLAME" fold --view critical t.flame >path 2>err && holds
}
one() {
    if again 4 path_is_right "$1"; then
        test_ok "critical path of a wait ended by: $1, $OFF_HOW"
    else
        test_fail "critical path of a wait ended by: $1, $OFF_HOW" "$(cat out path err)"
    fi
}

words='killed busy exit exec fatal robust closed polled cloexec flock'
# Linux 5.3 has pidfds, and a sandbox may forbid them.
if python3 -c 'import os; os.pidfd_open(os.getpid())' 2>/dev/null; then
    words="$words pidfd poller"
fi
OFF_HOW=--in-process
for what in $words; do
    one "$what"
done
OFF_HOW=--no-in-process
for what in killed exit exec closed; do
    one "$what"
done

done_testing
