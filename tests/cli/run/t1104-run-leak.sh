#!/bin/bash
# flame run --view leak: what is noted of waits inside of a program keeps no block of it alive.
. "${0%/*}/../lib.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim lostlock -pthread
# Without -O0 what leads to a block may be nowhere in memory, or left somewhere by chance: other stacks find
# it in one run and not in the next.
compile_victim leaks -O0 -ldl -pthread
for command in mem run 'run --no-in-process' 'run --no-filter'; do
    # shellcheck disable=SC2086 # words
    run "$FLAME" $command -q --view leak -o leak.folded -- ./lostlock
    is_int "$status" 0 "flame $command: a lock that is lost"
    is_str "$(grep -c ';definite_lock 72$' leak.folded)" 1 'is found'
    for view in leak definite indirect inner reachable; do
        # shellcheck disable=SC2086
        run "$FLAME" $command -q --view $view -o leak.folded -- ./leaks
        # Inside there is a library with thread-local data more, and a variable of the environment.
        grep -v '_dl_allocate_tls;\|__add_to_environ[ ;]' leak.folded >"$view.${command// /}"
        ok "flame $command: the view $view is that of flame mem" cmp "$view.mem" "$view.${command// /}"
    done
done
ok 'there are leaks to find' test "$(wc -l <leak.mem)" -gt 5
done_testing
