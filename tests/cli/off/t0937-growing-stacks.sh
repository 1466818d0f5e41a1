#!/bin/bash
# Memory that libflamewait.so maps at run time stays out of the program's address ranges: stacks that
# grow down into free addresses can still grow.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim growing -pthread
is_str "$(./growing)" 3 'growing without flame: all threads live'
# A tracer that gets no CPU meanwhile cannot distinguish a sleep from the stop after it.
threads_sleep() {
    run "$FLAME" off "$how" -o x.flame -- ./growing
    "$FLAME" fold --view off x.flame >x.folded
    slept=$(sum ';thread;.*nanosleep ' <x.folded)
    besides=$(besides comm=. x.flame)
    [ "$status" -ne 0 ] || [ "$slept" -ge 30000 ]
}
for how in --in-process --no-in-process; do
    again 5 threads_sleep
    is_str "$status $(<out)" '0 3' "growing under $how: all threads live"
    ok "growing under $how: the sleeps are counted ($slept us, and $besides us on the way)" \
        test "$slept" -ge 30000 -a $((slept + besides)) -ge 57000
done
done_testing
