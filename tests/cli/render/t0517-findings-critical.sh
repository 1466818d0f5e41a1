#!/bin/bash
# The longest wait of the critical path is a finding, with the lock's holder and not with those
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
    test_ok "the finding on the critical path names the lock holder's wait"
else
    test_fail "the finding on the critical path names the lock holder's wait" "$(cat text err)"
fi
run_expect_status 0 'top --view critical succeeds' "$FLAME" top --view critical t.flame
file_has out ' hold_it$' 'top --view critical has the lock holder'
run_expect_status 0 'render -o p.html of an off-CPU trace succeeds' "$FLAME" render -o p.html t.flame
file_has p.html '"name":"critical"' 'the page has the view critical as a column'

done_testing
