#!/bin/bash
# The cost of tracing is reported. A thread that makes calls faster than the tracer reads them waits
# for it. That is no wait of the program's: it is in no view of waits, and has a line of its own. An
# attached process is stopped at each call; the summary tells for how long it could do nothing.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

# Where the tracer had the processor in time there is nothing to see.
waits() {
    run "$FLAME" off -o t.flame dd if=/dev/zero of=/dev/null bs=1 count=400000 status=none
    [ "$status" -eq 0 ] && grep -q '^flame: threads waited .* until the tracer had read' err
}
again 5 waits
file_has err '^flame: threads waited [0-9,]* times? until the tracer had read the calls that they logged, .* in all; these waits are not the program.s$' \
    'it is said'
room=$("$FLAME" dump -s row t.flame | sed -n 's/.* kind=room blocked_ns=\([0-9]*\) .*/\1/p')
ok 'it is a row' test "${room:-0}" -gt 1000000
outside=$(oview off | sum ';\[(outside calls|page fault)\] [0-9]+$')
ok "which is not told as outside of calls ($outside us of $((room / 1000)))" test "$outside" -lt "$((room / 2000))"
unlike "$(for view in off wakeup offwake chain io oncpu hotcold; do oview $view; done)" \
    'waiting for the tracer' 'no view of waits has it'

dd if=/dev/zero of=/dev/null bs=1 count=100000000 status=none &
busy=$!
run "$FLAME" off -p "$busy" -d 0.3 -o t.flame
is_int "$status" 0 'a process that makes a call after the other is attached to'
file_has err "^flame: dd \\($busy\\) could do nothing for [0-9]+% of the time, .*; --no-stops stops no thread\$" \
    'how much it lost is said'
kill "$busy"
sleep 30 &
idle=$!
run "$FLAME" off -p "$idle" -d 0.3 -o t.flame
file_lacks err 'could do nothing' 'not so of who does nothing'
kill "$idle"
done_testing
