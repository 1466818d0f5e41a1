#!/bin/bash
# Requests of a program (preload/flamemem.h): snapshots, pauses, tags. A victim that makes random
# calls has a model of the expected counts.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim asker -pthread
run_expect_status 0 'without the library the program runs' ./asker snapshots
is_str "$(cat out)" '0
0' 'and is told that nobody records'
like "$(nm -D asker)" '^ +w flamemem_ask_pause$' 'the functions need not be there'

# ---- exact, whatever is called ----

# "by_one 300", "[tag: get] by_two 7": what is below main's caller, and the function that allocates.
ends() {
    fview "$@" | grep -E ';(by_[a-z]+|keep) [0-9]+$' | sed 's/^[^;]*;//; s/;\([^;]*\) \([0-9]*\)$/;=\1 \2/' |
        sed 's/^\(\(\[tag: [^];]*\];\)*\).*=/\1/; s/;/ /g' |
        awk '{ v = $NF; sub(/ [0-9]*$/, ""); n[$0] += v } END { for (s in n) print s, n[s] }' | sort
}

# A semicolon would end a frame.
model() {
    grep -v '^left out' out | sed 's/a;b/a:b/g' | sort
}

for threads in 1 3; do
    for seed in 1 2 3 4; do
        record "" ./asker random "$seed" "$threads"
        model >want
        ok "random calls $seed in $threads threads: the model has something" test "$(wc -l <want)" -gt 20
        is_str "$(ends live)" "$(cat want)" 'and the trace says the same'
        is_str "$("$FLAME" dump t.flame | sed -n 's/.* paused_calls=\([0-9]*\) paused_bytes=\([0-9]*\).*/left out \1 \2/p')" \
            "$(grep '^left out' out)" 'and as much was left out'
    done
done
record "referee=1" ./asker random 5 1
is_str "$(ends live)" "$(model)" \
    'walked twice it is the same'
record "depth=8" ./asker random 6 1
is_str "$(ends live)" "$(model)" \
    'with short stacks, too'
run_expect_status 0 'flame mem' "$FLAME" mem -o m.folded -- ./asker random 7 2
like "$(grep 'left out' err)" "left out, as the program paused the recording: .*$(sed -n 's/^left out [0-9]* //p' out |
    sed ':a; s/\([0-9]\)\([0-9][0-9][0-9]\)\($\|,\)/\1,\2\3/; ta') bytes" \
    'its summary says what was left out'

# ---- depths, forks ----

record "" ./asker deep
is_str "$(cat out)" '32 0' 'tags nest 32 deep'
is_str "$(fview live | grep -o '\[tag: deeper\]' | wc -l)" 32 'the others count as the 32nd'
is_str "$(fview live | grep -c '^asker;_start.* 20$')" 1 'and after as many pops none is left'

record "" ./asker forks
is_str "$(ends live "$SCRATCH"/t.flame*)" '[tag: server] [tag: child] keep 2000
[tag: server] keep 100
keep 30000' 'a child has the tags, and the pause, of its parent'

# ---- leaks ----

run_expect_status 23 'flame leak' "$FLAME" leak -o l.flame -- ./asker leaks
file_has err ' 1,003 bytes in 1 block, definite: keep ' 'a tagged block is found'
file_lacks err '1,001|4,000| 64 bytes' 'what a block that was left out leads to is reached'
is_str "$(fview leak l.flame | sed 's/;_start.*;keep/;keep/')" 'asker;[tag: lost];keep 1003' \
    'with its tag'
run_expect_status 23 'with misuse' "$FLAME" leak --check misuse -o l.flame -- ./asker leaks
file_has err '^flame: leak: 0 misuses' 'what was left out and is freed is none'

# ---- snapshots ----

mkdir snaps
run_expect_status 0 'snapshots are kept' "$FLAME" mem --snapshots snaps -o s.folded -- ./asker snapshots
is_str "$(cat out)" '1
1' 'and the program is told'
is_str "$(cd snaps && echo ./*)" \
    "$(cd snaps && echo ./asker.*.snapshot-1-half_way____x.flame ./asker.*.snapshot-2.flame)" \
    'their names are harmless'
is_str "$(total live snaps/*snapshot-1-*) $(total live snaps/*snapshot-2*) $(total live s.folded)" \
    '5000 12000 12000' 'each is the moment it was made at'
is_str "$(stat -c %a snaps/*snapshot-2*)" 600 'and nobody else'"'"'s to read'
run_expect_status 0 'without --snapshots' "$FLAME" mem -o s.folded -- ./asker snapshots
file_has err '^flame: 2 snapshots that the program asked for could not be kept; --snapshots' 'that is said'
record "" ./asker snapshots x
is_int "$(total live t.snapshot-1-x.flame)" 5000 'without flame they lie beside the trace'
: >t.snapshot-1-x.flame
record "" ./asker snapshots x
is_str "$(stat -c %s t.snapshot-1-x.flame; total live t.snapshot-2-x.flame)" '0
5000' 'and nothing is written over'
for dir in out nowhere; do
    run_expect_status 2 "a wrong directory ($dir)" "$FLAME" mem --snapshots "$dir" -- true
    is_int "$(wc -l <err)" 1 'is one line'
done
mkdir a:b
run_expect_status 2 'nor may it have a colon' "$FLAME" mem --snapshots a:b -- true
done_testing
