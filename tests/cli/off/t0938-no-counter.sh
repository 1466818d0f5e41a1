#!/bin/bash
# A program that may not read the processor's counter behaves as untraced: its threads, its children and
# the programs it executes. Logged calls have their times from the kernel then.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim nocounter -pthread
if ! ./nocounter >/dev/null; then
    skip 'no counter' 'this processor has no switch for it'
    done_testing
fi
is_str "$(./nocounter)" '1 1 0' 'nocounter without flame ends well'
# The loader of some C libraries reads the counter.
exec=
[ "$(./nocounter exec)" = "1 1 0" ] && exec=exec least=70000 whole=77000
# A tracer that gets no CPU meanwhile cannot distinguish a sleep from the stop after it.
all_naps() {
    run "$FLAME" off "$how" -o x.flame -- ./nocounter ${exec:+"$exec"}
    "$FLAME" fold --view off x.flame >x.folded
    slept=$(sum ';nap;.*nanosleep ' <x.folded)
    besides=$(besides comm=. x.flame)
    [ "$status" -ne 0 ] || [ "$slept" -ge "${least:-55000}" ]
}
for how in --in-process --no-in-process; do
    again 5 all_naps
    is_str "$status $(<out)" '0 1 1 0' "nocounter under $how behaves as untraced"
    ok "nocounter under $how: all sleeps are counted ($slept us, and $besides us on the way)" \
        test "$slept" -ge "${least:-55000}" -a $((slept + besides)) -ge "${whole:-57000}"
done
done_testing
