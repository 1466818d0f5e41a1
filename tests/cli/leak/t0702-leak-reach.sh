#!/bin/bash
# flame leak: a block that something leads to is no leak, one that nothing leads to is,
# whatever it was kept in and however the process ends. The functions of leaks.c are named
# after what is to be found of their blocks.
. "${0%/*}/../lib.sh"

compile_victim leaks -O0 -pthread -ldl
ok 'a plugin that stays is built' "${CC:-gcc}" -O0 -g -shared -fPIC -DSTAYS -o stays.so \
    "$ROOT/tests/victims/leak/leakplugin.c"
ok 'one that goes is built' "${CC:-gcc}" -O0 -g -shared -fPIC -o goes.so \
    "$ROOT/tests/victims/leak/leakplugin.c"

# The functions of a view, sorted: each stack's last frame whose name begins as a class's.
found() {
    "$FLAME" fold --view "$1" leaks.flame | grep -oE '(definite|indirect|inner|reachable)_[a-z_]+' |
        sort -u
}
wanted() { grep -ohE "^CASE\($1_[a-z_]+\)" "$ROOT/tests/victims/leak/leaks.c" | sed 's/CASE(//; s/)//'; }

for end in return exit _exit quick_exit thread; do
    rm -f leaks.flame
    run_expect_status 23 "$end: there are leaks" "$FLAME" leak -q -o leaks.flame -- ./leaks "$end" \
        ./stays.so ./goes.so
    case $end in
    _exit | quick_exit) said= ;;
    *) said='done' ;;
    esac
    is_str "$(cat out)" "$said" "$end: its output is its own"
    for class in definite indirect inner reachable; do
        expected=$(
            wanted $class
            [ $class != definite ] || echo definite_unloaded
            [ $class != reachable ] || echo reachable_plugin
            # The thread-local data of a first thread that has ended went with it.
            [ $class != "$([ $end = thread ] && echo definite || echo reachable)" ] ||
                echo reachable_plugin_local
        )
        case $end in
        thread) expected=$(grep -vE '_(thread|ended)_|_main_local|alternate' <<<"$expected") ;;
        return) expected=$(grep -v reachable_of_main <<<"$expected") ;;
        esac
        is_str "$(found $class)" "$(sort <<<"$expected")" "$end: $class"
    done
done
is_str "$("$FLAME" fold --view live leaks.flame | grep -cE 'main_and_look|libflamemem')" 0 \
    'the recorder is on no stack'

# Reachable blocks stay known when traces are added up, which render does with a single one, too.
for view in reachable definite indirect inner leak live alloc; do
    "$FLAME" render --view "$view" -f folded -o drawn leaks.flame 2>err
    is_str "$(sort drawn)" "$("$FLAME" fold --view "$view" leaks.flame | sort)" "flame render --view $view is what flame fold says"
done
ok 'there is something reachable' grep -q ' [1-9][0-9]*$' <("$FLAME" fold --no-header --view reachable leaks.flame)

run_expect_status 0 'flame mem looks, too' "$FLAME" mem --view definite -o l.folded ./leaks
file_has l.folded ';definite_head 56$' 'if it is asked for such a view'
run_expect_status 2 'not of samples' "$FLAME" mem --view leak --sample 512k ./leaks
file_has err 'leak looks at every block; leave --sample out' 'which is said'

# ---- what cannot be known ----

compile_victim tiles
run_expect_status 0 'a block that a mapping leads to' "$FLAME" leak -- ./tiles 1000
file_has err 'leak: 0 bytes .* leaked' 'is no leak'
file_lacks err 'not looked for' 'and that is known'
run_expect_status 24 'more mappings than are kept' "$FLAME" leak -- ./tiles 70000
is_str "$(cat out)" 70000 'do no harm'
file_has err '^flame: leak: heap not scanned in 1 process, .*: tiles [0-9]+$' \
    'but no verdict is made of what is not known to the end'

# ---- what it costs the program ----

compile_victim frozen -pthread
run_expect_status 0 'threads that sleep are stopped' "$FLAME" leak -- ./frozen
is_str "$(cat out)" '6 threads, 0 calls cut short' 'and no call of theirs ends with EINTR'

# The library's own records of blocks do not count as pointers of the program's, wherever its data
# lies.
compile_victim behind -pthread
for _ in $(seq 40); do
    run "$FLAME" leak -q -o behind.flame -- ./behind
    [ "$status" = 77 ] || break
done
if [ "$status" = 77 ]; then
    skip behind 'what lies behind the data of the library is taken'
else
    is_int "$status" 23 "a stack behind the library's data: there are leaks"
    is_str "$("$FLAME" fold --no-header --view leak behind.flame | awk '{ n += $NF } END { print n }')" 55 \
        'all of them'
fi

done_testing
