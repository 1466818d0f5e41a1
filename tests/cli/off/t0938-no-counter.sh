#!/bin/bash
# A program that may not read the processor's counter goes on as it would: its threads, its children and
# what it executes. Notes on its calls have their times from the kernel then.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim nocounter -pthread
if ! ./nocounter >/dev/null; then
    skip 'no counter' 'this processor has no switch for it'
    done_testing
fi
is_str "$(./nocounter)" '1 1 0' 'by itself'
# The loader of some C libraries reads the counter.
exec=
[ "$(./nocounter exec)" = "1 1 0" ] && exec=exec least=70000
for how in --inside --no-inside; do
    # A tracer that got no CPU meanwhile cannot tell a sleep from the stop behind it.
    for _ in 1 2 3 4 5; do
        run "$FLAME" off $how -o x.flame -- ./nocounter $exec
        "$FLAME" fold --view off x.flame >x.folded
        slept=$(sum ';nap;.*nanosleep ' <x.folded)
        if [ "$status" -ne 0 ] || [ "$slept" -ge "${least:-55000}" ]; then break; fi
    done
    is_str "$status $(<out)" '0 1 1 0' "$how: it goes as it would"
    ok "$how: all sleeps are told ($slept us)" test "$slept" -ge "${least:-55000}"
done
done_testing
