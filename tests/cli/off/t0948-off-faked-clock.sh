#!/bin/bash
# The program or a library replaces the C library's clock functions: waits and
# lifetimes are measured by the kernel's clock.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim fakedclock -rdynamic
for how in --in-process --no-in-process; do
    run "$FLAME" off $how -o t.flame ./fakedclock
    is_str "$status $(cat out)" '0 fine' "flame off $how, faked clock: the program behaves as untraced"
    oview off >stacks
    ok "flame off $how, faked clock: the wait for the pipe has its real duration" \
        test "$(sum '^fakedclock;.*;read pipe' <stacks)" -ge 50000
    ok "flame off $how, faked clock: the sleep has its real duration" \
        test "$(sum ';nanosleep [0-9]+$' <stacks)" -ge 50000
done

run "$FLAME" mem -q -o m.flame --lifetimes time ./fakedclock
is_str "$status $(cat out)" '0 fine' 'flame mem, faked clock: the program behaves as untraced'
lived=$("$FLAME" dump -s histogram m.flame | sed -n 's/.* class=lifetime from=\([0-9]*\) .* bytes=5000$/\1/p')
ok "flame mem, faked clock: a block has its real lifetime (from $lived ns on)" test "${lived:-0}" -ge 20000000
run "$FLAME" mem -o x.svg ./fakedclock
file_lacks err 'recording cost about [0-9]{4}' 'flame mem, faked clock: the cost of recording is no time of day'
done_testing
