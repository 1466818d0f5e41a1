#!/bin/bash
# A clock that another library or the program puts in the place of the C library's: waits and
# lifetimes are told by the kernel's.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim fakedclock -rdynamic
for how in --in-process --no-in-process; do
    run "$FLAME" off $how -o t.flame ./fakedclock
    is_str "$status $(cat out)" '0 fine' "$how: the program goes as it would"
    oview off >stacks
    ok "$how: the wait for the pipe is as long as it was" \
        test "$(sum '^fakedclock;.*;read pipe' <stacks)" -ge 50000
    ok "$how: and the sleep" test "$(sum ';nanosleep [0-9]+$' <stacks)" -ge 50000
done

run "$FLAME" mem -q -o m.flame --lifetimes time ./fakedclock
is_str "$status $(cat out)" '0 fine' 'memory: the program goes as it would'
lived=$("$FLAME" dump -s histogram m.flame | sed -n 's/.* class=lifetime from=\([0-9]*\) .* bytes=5000$/\1/p')
ok "and its block lived as long as it did (from $lived ns on)" test "${lived:-0}" -ge 20000000
run "$FLAME" mem -o x.svg ./fakedclock
file_lacks err 'recording cost about [0-9]{4}' 'what recording cost is no time of a day'
done_testing
