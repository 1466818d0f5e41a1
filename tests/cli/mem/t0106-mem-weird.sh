#!/usr/bin/env bash
# Stacks that are not plain: each is walked twice and must come out the same.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim weird -pthread
record referee=1 ./weird
is_int "$status" 0 "signals, longjmp, coroutines, destructors, giants: the program is content"
is_str "$(cat err)" "" "and no stack differs from libunwind's word"
ok "the handler's stack goes through the signal frame to main" \
    grep -Eq ';main;(.*;)?raise;?.*;handler ' <(fview count)
ok "the coroutine's blocks are there" test "$(fview count | grep -c in_coroutine)" -ge 1
is_int "$(fview count | grep -E 'short_life' | awk '{ n += $NF } END { print n }')" 2400 \
    "2400 threads, each block counted"
is_int "$(fview live | grep -c -E 'short_life|last_rites')" 0 "what destructors freed is not live"
# 5 GiB, then 6 GiB by realloc, 99 bytes and a coroutine's stack, all from main.
is_int "$(fview alloc | grep -E ';main ' | awk '{ print $NF }')" $((11 * 1024 ** 3 + 99 + 65536)) \
    "blocks over 4 GiB keep their size"
is_int "$(fview live | awk '$NF >= 2^32 { n++ } END { print n + 0 }')" 0 "and are freed whole"

compile_victim throws
record referee=1 ./throws
is_int "$status" 0 "C++ exceptions: status"
is_str "$(cat out)" "caught 1000" "C++ exceptions: all caught"
is_str "$(cat err)" "" "C++ exceptions: no stack differs"
done_testing
