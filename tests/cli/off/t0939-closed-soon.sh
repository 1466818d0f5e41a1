#!/bin/bash
# Files and directories that name the object of a wait are known when it is reported, however soon they are
# closed after it: polled descriptors, and the directory descriptor of an openat.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim closedsoon -pthread
touch first
mkdir one
mkfifo one/fifo
# On a busy machine the event may come before the wait.
waits_in_call() {
    run "$FLAME" off "$how" -o x.flame -- ./closedsoon "$call" 20
    "$FLAME" fold --view off x.flame | grep ";wait_in_$call;" >x.folded
    waits=$(sum ';' <x.folded)
    [ "$status" -ne 0 ] || [ "$waits" -ge 40000 ]
}
for how in --in-process --no-in-process; do
    for call in poll select; do
        # By stops a select that has timed out has no objects: the kernel has cleared its sets.
        if [ "$how $call" = '--no-in-process select' ]; then continue; fi
        again 5 waits_in_call
        is_int "$status" 0 "closedsoon $call, $how: ends with status 0"
        ok "closedsoon $call, $how: waits ($waits us)" test "$waits" -ge 40000
        is_int "$(sum ";$call 2 fds " <x.folded)" "$waits" \
            "closedsoon $call, $how: each wait is for two descriptors"
    done
    run "$FLAME" off $how -o x.flame -- ./closedsoon openat 40
    is_int "$status" 0 "closedsoon openat, $how: ends with status 0"
    "$FLAME" fold --view offwake x.flame | grep ';wait_in_openat;' >x.folded
    ok "closedsoon openat, $how: waits ($(sum ';' <x.folded) us)" test "$(sum ';' <x.folded)" -gt 0
    is_str "$(grep -F '[disk]' x.folded)" '' \
        "closedsoon openat, $how: waits for the other end of a fifo, not for a disk"
done
done_testing
