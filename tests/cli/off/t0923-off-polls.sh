#!/bin/bash
# Waits whose object is in memory (polls, addresses): logged in-process they have the objects that they have by
# stops, even if the memory changes; and no address harms the program.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim polled -pthread
libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    skip polled 'this loader does not place the gate'
    done_testing
fi

stops() {
    sed -n 's/.*stopped the threads \([0-9,]*\) times.*/\1/p' err | tr -d ,
}
# Objects and wakers of each kind of call.
kinds() {
    oview offwake | sed -n '/;waiter;in_/{s/-[0-9]\{7\}/-N/g; s/ [0-9]*$//p}' | sort -u
}
traced() {
    run "$FLAME" off -o t.flame "$@"
    is_str "$status $(cat out)" '0 fine' "flame off $*: the program behaves as untraced"
}

# On a busy machine the data may be there before a thread waits, and a read that loses its CPU
# to others is taken for a sleep (inproc/lib/call_log.c); a real error would occur in each run.
both_the_same() {
    traced --no-in-process ./polled
    kinds >stopped
    many=$(stops)
    traced --in-process ./polled
    kinds >noted
    few=$(stops)
    cmp -s stopped noted && [ $((few * 3)) -lt "$many" ]
}
again 5 both_the_same
is_int "$(grep -c . stopped)" 8 'polled sleeps once in each kind of call'
is_str "$(cat noted)" "$(cat stopped)" '--in-process: polls and addresses have the objects of tracing by stops'
ok "--in-process: polls and addresses need no stop ($few times, not $many)" test $((few * 3)) -lt "$many"
changed_the_same() {
    traced --in-process ./polled changed
    kinds >changed
    cmp -s stopped changed
}
again 5 changed_the_same
is_str "$(cat changed)" "$(cat stopped)" \
    '--in-process: polls have their objects though the memory changes during the wait'

done_testing
