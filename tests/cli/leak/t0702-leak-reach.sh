#!/bin/bash
# flame leak: a block that a pointer leads to is no leak, any other block is,
# whatever memory the pointer is in and however the process ends. The functions of leaks.c are named
# after the expected class of their blocks.
. "${0%/*}/../lib.sh"

compile_victim leaks -O0 -pthread -ldl
ok 'stays.so is built' "${CC:-gcc}" -O0 -g -shared -fPIC -DSTAYS -o stays.so \
    "$ROOT/tests/victims/leak/leakplugin.c"
ok 'goes.so is built' "${CC:-gcc}" -O0 -g -shared -fPIC -o goes.so \
    "$ROOT/tests/victims/leak/leakplugin.c"

# The functions of a view, sorted: each stack's last frame whose name begins as a class's.
found() {
    "$FLAME" fold --view "$1" leaks.flame | grep -oE '(definite|indirect|inner|reachable)_[a-z_]+' |
        sort -u
}
wanted() { grep -ohE "^CASE\($1_[a-z_]+\)" "$ROOT/tests/victims/leak/leaks.c" | sed 's/CASE(//; s/)//'; }

for end in return exit _exit quick_exit thread; do
    rm -f leaks.flame
    run_expect_status 23 "leaks $end ends with status 23" "$FLAME" leak -q -o leaks.flame -- ./leaks "$end" \
        ./stays.so ./goes.so
    case $end in
    _exit | quick_exit) said= ;;
    *) said='done' ;;
    esac
    is_str "$(cat out)" "$said" "leaks $end prints its own output"
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
        is_str "$(found $class)" "$(sort <<<"$expected")" "leaks $end: the $class blocks"
    done
done
is_str "$("$FLAME" fold --view live leaks.flame | grep -cE 'main_and_look|libflamemem')" 0 \
    'no stack of leaks has a frame of the recorder'

# Reachable blocks keep their class when traces are summed, which render does with a single one, too.
for view in reachable definite indirect inner leak live alloc; do
    "$FLAME" render --view "$view" -f folded -o drawn leaks.flame 2>err
    is_str "$(sort drawn)" "$("$FLAME" fold --view "$view" leaks.flame | sort)" \
        "flame render --view $view equals flame fold --view $view"
done
ok 'fold --view reachable has blocks' \
    grep -q ' [1-9][0-9]*$' <("$FLAME" fold --no-header --view reachable leaks.flame)

run_expect_status 0 'flame mem --view definite succeeds' "$FLAME" mem --view definite -o l.folded ./leaks
file_has l.folded ';definite_head 56$' 'flame mem --view definite has the definite leaks'
run_expect_status 2 'flame mem --view leak --sample ends with status 2' \
    "$FLAME" mem --view leak --sample 512k ./leaks
file_has err 'leak needs every block; leave --sample out' 'flame mem --view leak --sample says why'

# ---- what cannot be known ----

compile_victim tiles
run_expect_status 0 'flame leak of a block that a mapping leads to ends with status 0' \
    "$FLAME" leak -- ./tiles 1000
file_has err 'leak: 0 bytes .* leaked' 'a block that a mapping leads to is no leak'
file_lacks err 'not looked for' 'a process with 1000 mappings is checked'
run_expect_status 24 'flame leak with more mappings than it keeps ends with status 24' \
    "$FLAME" leak -- ./tiles 70000
is_str "$(cat out)" 70000 'a program with more mappings than flame keeps behaves as unrecorded'
file_has err '^flame: leak: heap not scanned in 1 process, .*: tiles [0-9]+$' \
    'a process with more mappings than flame keeps is not checked'

# ---- cost for the program ----

compile_victim frozen -pthread
run_expect_status 0 'flame leak of sleeping threads ends with status 0' "$FLAME" leak -- ./frozen
is_str "$(cat out)" '6 threads, 0 calls cut short' \
    'the scan for leaks ends no call of a sleeping thread with EINTR'

# The library's own records of blocks do not count as pointers of the program, at whatever address its data
# lies.
compile_victim behind -pthread
for _ in $(seq 40); do
    run "$FLAME" leak -q -o behind.flame -- ./behind
    [ "$status" = 77 ] || break
done
if [ "$status" = 77 ]; then
    skip behind 'what lies behind the data of the library is taken'
else
    is_int "$status" 23 "flame leak of a stack behind the library's data ends with status 23"
    is_str "$("$FLAME" fold --no-header --view leak behind.flame | awk '{ n += $NF } END { print n }')" 55 \
        "leaks of a stack behind the library's data are complete"
fi

done_testing
