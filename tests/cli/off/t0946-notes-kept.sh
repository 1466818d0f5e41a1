#!/bin/bash
# Logged calls are whole, and their times are the tracer's, whatever the program does: a handler
# that continues on another stack while a call is being logged, a clock of its own.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim preempted
for round in 1 2 3; do
    run_expect_status 0 "round $round: flame off of a handler that switches stacks succeeds" timeout 60 \
        "$FLAME" off --in-process -o x.folded -- ./preempted
    is_str "$(cat out)" '0 wrong' "round $round: a handler that switches stacks makes no call go wrong"
    file_lacks err 'the logged calls of|cannot be' \
        "round $round: the logged calls of a handler that switches stacks can be read"
done

if ! unshare -T --monotonic 5000 true 2>/dev/null; then
    skip time-namespace 'no time namespace can be made'
    done_testing
fi
for ahead in 5000 -5; do
    # It makes one for its child, and the child executes a program in it.
    off --in-process unshare -T --monotonic $ahead sh -c 'sleep 0.1; ls >/dev/null'
    is_int "$status" 0 "a clock that is $ahead s ahead: flame off succeeds"
    is_str "$(cat err)" '' "a clock that is $ahead s ahead: flame off prints nothing"
    slept=$(oview off | sum 'nanosleep ')
    ok "a clock that is $ahead s ahead: the sleep is measured by the tracer's clock ($slept us)" \
        test "$slept" -gt 0 -a "$slept" -lt 60000000
done
done_testing
