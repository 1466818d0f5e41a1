#!/bin/bash
# Memory that noting needs while the program runs is not where the program's own would be: stacks that
# grow down into free addresses go on growing.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim growing -pthread
is_str "$(./growing)" 3 'by themselves all threads live'
# A tracer that got no CPU meanwhile cannot tell a sleep from the stop behind it.
threads_sleep() {
    run "$FLAME" off "$how" -o x.flame -- ./growing
    "$FLAME" fold --view off x.flame >x.folded
    slept=$(sum ';thread;.*nanosleep ' <x.folded)
    besides=$(besides comm=. x.flame)
    [ "$status" -ne 0 ] || [ "$slept" -ge 30000 ]
}
for how in --in-process --no-in-process; do
    again 5 threads_sleep
    is_str "$status $(<out)" '0 3' "$how: they do"
    ok "$how: their sleeps are told ($slept us, and $besides us on the way)" \
        test "$slept" -ge 30000 -a $((slept + besides)) -ge 57000
done
done_testing
