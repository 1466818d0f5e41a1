#!/bin/bash
# Files and directories that say what a wait is for are known when it is told, however soon they are
# closed behind it: those among what is polled, and those that an open's path begins at.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim closedsoon -pthread
touch first
mkdir one
mkfifo one/fifo
# On a busy machine what it waits for may be there before it waits.
waits_in_call() {
    run "$FLAME" off "$how" -o x.flame -- ./closedsoon "$call" 20
    "$FLAME" fold --view off x.flame | grep ";wait_in_$call;" >x.folded
    waits=$(sum ';' <x.folded)
    [ "$status" -ne 0 ] || [ "$waits" -ge 40000 ]
}
for how in --in-process --no-in-process; do
    for call in poll select; do
        # By stops a select that has timed out is of nothing: the kernel has cleared its sets.
        if [ "$how $call" = '--no-in-process select' ]; then continue; fi
        again 5 waits_in_call
        is_int "$status" 0 "$call, $how: it runs as it does"
        ok "$call, $how: it waits ($waits us)" test "$waits" -ge 40000
        is_int "$(sum ";$call 2 fds " <x.folded)" "$waits" "$call, $how: for two descriptors, each time"
    done
    run "$FLAME" off $how -o x.flame -- ./closedsoon openat 40
    is_int "$status" 0 "openat, $how: it runs as it does"
    "$FLAME" fold --view offwake x.flame | grep ';wait_in_openat;' >x.folded
    ok "openat, $how: it waits ($(sum ';' <x.folded) us)" test "$(sum ';' <x.folded)" -gt 0
    is_str "$(grep -F '[disk]' x.folded)" '' "openat, $how: for the other end of a fifo, and for no disk"
done
done_testing
