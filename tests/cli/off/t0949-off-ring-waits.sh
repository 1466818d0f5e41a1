#!/bin/bash
# flame off reports the cost of tracing. A thread that makes calls faster than the tracer reads them waits
# for it. That is not a wait of the program: it is in no view of waits, and has its own line. An
# attached process is stopped at each call; the summary reports for how long it could not run.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

# On a busy machine the tracer may read as fast as the thread makes calls. So it is stopped once the thread
# makes them, until the thread waits in a futex, and a little longer.
makes_calls() {
    tracer=$(pgrep -P "$flame") && thread=$(pgrep -x -P "$tracer" dd) &&
        [ "$(readlink "/proc/$thread/fd/0")" = /dev/zero ]
}
waits() {
    "$FLAME" off -o t.flame dd if=/dev/zero of=/dev/null bs=1 count=1000000 status=none 2>err &
    flame=$!
    if comes_true makes_calls; then
        kill -STOP "$tracer"
        comes_true is_in_call "$thread" 202 98
        sleep 0.02
        kill -CONT "$tracer"
    fi
    wait "$flame" && grep -q '^flame: threads waited .* until the tracer had read' err
}
again 5 waits
file_has err '^flame: threads waited [0-9,]* times? until the tracer had read the calls that they logged, .* in all; these waits are not the program.s$' \
    'the summary reports waits for the tracer'
room=$("$FLAME" dump -s row t.flame | sed -n 's/.* kind=room blocked_ns=\([0-9]*\) .*/\1/p')
ok 'a wait for the tracer is a row of kind room' test "${room:-0}" -gt 1000000
outside=$(oview off | sum ';\[(outside calls|page fault)\] [0-9]+$')
ok "waits for the tracer do not count as outside calls ($outside us of $((room / 1000)))" \
    test "$outside" -lt "$((room / 2000))"
unlike "$(for view in off wakeup offwake chain io oncpu hotcold; do oview $view; done)" \
    'waiting for the tracer' 'no view of waits has a wait for the tracer'

dd if=/dev/zero of=/dev/null bs=1 count=100000000 status=none &
busy=$!
run "$FLAME" off -p "$busy" -d 0.3 -o t.flame
is_int "$status" 0 'flame off -p of a process that makes calls without a pause succeeds'
file_has err "^flame: dd \\($busy\\) could do nothing for [0-9]+% of the time, .*; --no-stops stops no thread\$" \
    'the summary reports how long a busy process could not run'
kill "$busy"
sleep 30 &
idle=$!
run "$FLAME" off -p "$idle" -d 0.3 -o t.flame
file_lacks err 'could do nothing' 'the summary of an idle process does not report lost time'
kill "$idle"
done_testing
