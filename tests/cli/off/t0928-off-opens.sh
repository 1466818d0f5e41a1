#!/bin/bash
# flame off --in-process: files are opened, read and closed without a stop, and the object of a descriptor is reported
# as by stops, whichever call closes its number, and whatever object has it next.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    skip 'noted calls' 'this loader puts libflamegate.so elsewhere'
    done_testing
fi
compile_victim opensfiles -pthread
echo something >file
mkfifo fifo
stops() {
    sed -n 's/.*stopped the threads \([0-9,]*\) times.*/\1/p' err | tr -d ,
}
# Files may come from a disk.
waits_of() {
    "$FLAME" fold --view chain "$1" | grep -v ';open_file'
}
rounds=60
# The other thread takes 3 ms, each time. On a busy machine it may be done before it is waited for.
waits_for_byte() {
    run "$FLAME" off --in-process -o x.flame -- ./opensfiles "$how" "$rounds" file
    waits_of x.flame >x.folded
    waits=$(sum '^[^-]*;wait_for_byte[^-]*;read( |$)' <x.folded)
    [ "$status" -ne 0 ] || [ "$waits" -ge $((rounds * 1500)) ]
}
for how in close raw dup range thread; do
    again 5 waits_for_byte
    is_int "$status" 0 "opensfiles $how ends with status 0"
    ok "opensfiles $how waits for the other thread ($waits us of $(<out))" \
        test "$waits" -ge $((rounds * 1500))
    is_int "$(sum '^[^-]*;wait_for_byte[^-]*;read pipe:' <x.folded)" "$waits" \
        "opensfiles $how waits at the pipe each time"
    # The thread's own time in the run queue comes after the write.
    woken=$(sum '^[^-]*;wait_for_byte.*;write pipe:.*;wakes' <x.folded)
    queued=$(sum '^[^-]*;wait_for_byte[^-]*;--;\[run queue\]_\[w\] [0-9]+$' <x.folded)
    ok "opensfiles $how waits until the other thread writes to the pipe ($woken us, then $queued us for a CPU)" \
        test "$woken" -gt 0 -a "$woken" -ge $(((waits - queued) * 9 / 10))
    if [ "${libc##*.}" -lt 41 ] || grep -q '^Seccomp_filters:' /proc/self/status; then
        # By stops it is 35 a round and more.
        ok "opensfiles $how: files need no stop ($(stops) stops)" test "$(stops)" -lt $((rounds * 12))
    fi
done
waits_for_other_end() {
    run "$FLAME" off "$how" -o x.flame -- ./opensfiles fifo "$rounds" fifo
    waits_of x.flame >x.folded
    waits=$(sum '^[^-]*;wait_for_other_end[^-]*;(open|read)( |$)' <x.folded)
    [ "$status" -ne 0 ] || [ "$waits" -ge $((rounds * 3000)) ]
}
for how in --in-process --no-in-process; do
    again 5 waits_for_other_end
    is_int "$status" 0 "opensfiles fifo $how ends with status 0"
    ok "opensfiles fifo $how waits for the other end and for a byte ($waits us of $(<out))" \
        test "$waits" -ge $((rounds * 3000))
    is_int "$(sum '^[^-]*;wait_for_other_end[^-]*;(open|read) [^;]*fifo[; ]' <x.folded)" "$waits" \
        "opensfiles fifo $how waits at the fifo each time"
    ok "opensfiles fifo $how waits until the other end writes" \
        test "$(sum '^[^-]*;wait_for_other_end[^-]*;read .*;write [^;]*fifo.*;wakes' <x.folded)" -ge \
        $(($(sum '^[^-]*;wait_for_other_end[^-]*;read ' <x.folded) * 4 / 10))
done
# On a busy machine cat may not have reached its open when it is ended.
seconds=(0.2 1 4)
waits_in_open() {
    run "$FLAME" off --in-process -o x.folded -- timeout "${seconds[0]}" cat fifo
    seconds=("${seconds[@]:1}")
    opens=$(sum '^cat;.*;open fifo' <x.folded)
    [ "$opens" -ge 50000 ]
}
again 3 waits_in_open
is_int "$status" 124 'timeout ends an open of a fifo that has no other end'
ok "an open that never ends has its path ($opens us)" test "$opens" -ge 50000
done_testing
