#!/bin/bash
# flame run --view leak: the rings in which a program logs its calls make no block reachable.
. "${0%/*}/../lib.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

compile_victim lostlock -pthread
# Without -O0 the pointer to a block may be nowhere in memory, or left somewhere by chance: leaks then differ
# from run to run.
compile_victim leaks -O0 -ldl -pthread
for command in mem run 'run --no-in-process' 'run --no-filter'; do
    # shellcheck disable=SC2086 # words
    run "$FLAME" $command -q --view leak -o leak.folded -- ./lostlock
    is_int "$status" 0 "flame $command --view leak of a lost lock ends with status 0"
    is_str "$(grep -c ';definite_lock 72$' leak.folded)" 1 "flame $command --view leak finds a lost lock"
    for view in leak definite indirect inner reachable; do
        # shellcheck disable=SC2086
        run "$FLAME" $command -q --view $view -o leak.folded -- ./leaks
        # The process then has one more library with thread-local data, and one more environment variable.
        grep -v '_dl_allocate_tls;\|__add_to_environ[ ;]' leak.folded >"$view.${command// /}"
        ok "flame $command --view $view equals flame mem --view $view" cmp "$view.mem" "$view.${command// /}"
    done
done
ok 'flame mem --view leak has leaks' test "$(wc -l <leak.mem)" -gt 5
done_testing
