#!/bin/bash
# A program may overwrite the rings in which its threads log their calls. This spoils its counts, and
# nothing else: no process of the run comes to harm, and flame reports it.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim scribbles -pthread
OFF_HOW=--in-process

off ./scribbles head
is_str "$(cat out)" $'not writable\nstays so' \
    'memory that only the tracer writes is not writable for the program'

for seed in $(seq $((FLAME_TEST_FULL ? 40 : 6))); do
    off ./scribbles rings "$seed"
    is_str "$status $(cat out)" '0 done' "random words, seed $seed: the program ends as untraced"
    ok "random words, seed $seed: the trace can be folded" "$FLAME" fold -o x.folded t.flame
done
run "$FLAME" off --in-process -o t.flame -- ./scribbles rings 3
ok 'flame off reports that a program has overwritten its rings' \
    grep -q 'a program of the run has overwritten' err

for word in 0 1; do
    off ./scribbles own "$word"
    is_str "$status $(cat out)" '0 done' \
        "a stray word at $word of the program's ring: the program ends as untraced"
done

if [ "$(id -u)" -eq 0 ]; then
    run "$FLAME" off --in-process -o t.flame -- ./scribbles user
    is_str "$status $(cat out)" $'0 parent: writable\nchild: not mapped\nparent: writable' \
        "a process that changes its user cannot write to its parent's rings"
    ok 'flame off reports that a process that changed its user is traced by stops' \
        grep -q 'is traced by stops alone: it has changed to another user' err
    ok 'a process that changed its user has its sleeps in the trace' \
        test "$(oview off | grep -c '^scribbles.*nanosleep ')" -ge 1
else
    skip not-root 'only root can change its user ID'
fi

done_testing
