#!/bin/bash
# A program may write to what its threads note of their calls. It spoils figures with that, and
# nothing else: neither the program nor another of the run comes to harm, and that is said.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim scribbles -pthread
OFF_HOW=--in-process

off ./scribbles head
is_str "$(cat out)" $'not writable\nstays so' 'what the tracer alone writes cannot be written to'

for seed in $(seq $((FLAME_TEST_FULL ? 40 : 6))); do
    off ./scribbles rings "$seed"
    is_str "$status $(cat out)" '0 done' "random words, by $seed: the program ends as it would"
    ok "... and the trace is whole" "$FLAME" fold -o x.folded t.flame
done
run "$FLAME" off --in-process -o t.flame -- ./scribbles rings 3
ok 'it is said that its figures may be wrong' grep -q 'a program of the run has written over' err

for word in 0 1; do
    off ./scribbles own "$word"
    is_str "$status $(cat out)" '0 done' "one stray word, at $word of its ring: it goes on"
done

if [ "$(id -u)" -eq 0 ]; then
    run "$FLAME" off --in-process -o t.flame -- ./scribbles user
    is_str "$status $(cat out)" $'0 parent: writable\nchild: not mapped\nparent: writable' \
        'who gives up its user ID has nothing that its parent writes to'
    ok 'that it is traced otherwise is said' grep -q 'is traced by stops alone: it has changed to another user' err
    ok 'its sleeps are there' test "$(oview off | grep -c '^scribbles.*nanosleep ')" -ge 1
else
    skip not-root 'only root can change its user ID'
fi

done_testing
