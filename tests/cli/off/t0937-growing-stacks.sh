#!/bin/bash
# Memory that noting needs while the program runs is not where the program's own would be: stacks that
# grow down into free addresses go on growing.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim growing -pthread
is_str "$(./growing)" 3 'by themselves all threads live'
for how in --inside --no-inside; do
    # A tracer that got no CPU meanwhile cannot tell a sleep from the stop behind it.
    for _ in 1 2 3 4 5; do
        run "$FLAME" off $how -o x.flame -- ./growing
        "$FLAME" fold --view off x.flame >x.folded
        slept=$(sum ';thread;.*nanosleep ' <x.folded)
        if [ "$status" -ne 0 ] || [ "$slept" -ge 30000 ]; then break; fi
    done
    is_str "$status $(<out)" '0 3' "$how: they do"
    ok "$how: their sleeps are told ($slept us)" test "$slept" -ge 30000
done
done_testing
