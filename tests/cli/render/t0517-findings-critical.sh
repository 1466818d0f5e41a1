#!/bin/bash
# The longest wait of the critical path is said in a sentence, with the lock's holder and not with those
# who waited for it; a table and a page have the view.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim waypoints -pthread

holder_is_most() {
    off ./waypoints lock
    "$FLAME" render -f findings --view critical -o text t.flame &&
        grep -A1 '^On the critical path the longest wait is take_ms.*: .* of all waiting on it, most in nanosleep$' \
            text | grep -q '^ *critical .*;hold_it[^;]*;take_ms'
}
if again 3 holder_is_most; then
    test_ok 'the sentence'
else
    test_fail 'the sentence' "$(cat text err)"
fi
run_expect_status 0 'a table' "$FLAME" top --view critical t.flame
file_has out ' hold_it$' 'has who held the lock'
run_expect_status 0 'a page' "$FLAME" render -o p.html t.flame
file_has p.html '"name":"critical"' 'has the view as a column'

done_testing
