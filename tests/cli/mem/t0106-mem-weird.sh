#!/usr/bin/env bash
# Unusual stacks: each is walked twice, and both walks must give the same frames.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim weird -pthread
record referee=1 ./weird
is_int "$status" 0 \
    'a program with signals, longjmp, coroutines, destructors and giant blocks ends with status 0'
is_str "$(cat err)" "" "a program with unusual stacks: each stack equals libunwind's"
ok "a signal handler's stack goes through the signal frame to main" \
    grep -Eq ';main;(.*;)?raise;?.*;handler ' <(fview count)
ok "a coroutine's blocks are in the trace" test "$(fview count | grep -c in_coroutine)" -ge 1
is_int "$(fview count | grep -E 'short_life' | awk '{ n += $NF } END { print n }')" 2400 \
    'each block of 2400 threads counts'
is_int "$(fview live | grep -c -E 'short_life|last_rites')" 0 'blocks that destructors freed are not live'
# 5 GiB, then 6 GiB by realloc, 99 bytes and a coroutine's stack, all from main.
is_int "$(fview alloc | grep -E ';main ' | awk '{ print $NF }')" $((11 * 1024 ** 3 + 99 + 65536)) \
    'blocks over 4 GiB keep their size'
is_int "$(fview live | awk '$NF >= 2^32 { n++ } END { print n + 0 }')" 0 'blocks over 4 GiB are freed in full'

# A return address that no code can have.
compile_victim nowhere -fno-builtin
for address in deadbeef deadbeefdeadbeef 8000000000000000 ffffffffffffffff; do
    run "$FLAME" mem -q --kept -o t.flame -- ./nowhere $address
    is_str "$status $(fview live | sed -n 's/.*;lost /lost /p')" '3 lost 1234' \
        "a stack that returns to $address: its known frames"
done

compile_victim throws
record referee=1 ./throws
is_int "$status" 0 'a program with C++ exceptions ends with status 0'
is_str "$(cat out)" "caught 1000" 'a program with C++ exceptions catches all of them'
is_str "$(cat err)" "" "a program with C++ exceptions: each stack equals libunwind's"
done_testing
