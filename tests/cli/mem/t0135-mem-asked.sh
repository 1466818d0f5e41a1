#!/bin/bash
# Requests of a program (preload/flamemem.h): snapshots, pauses, tags. A victim that makes random
# calls has a model of the expected counts.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim asker -pthread
run_expect_status 0 'asker runs without libflamemem.so' ./asker snapshots
is_str "$(cat out)" '0
0' 'without libflamemem.so, flamemem_snapshot returns 0'
like "$(nm -D asker)" '^ +w flamemem_ask_pause$' 'the functions of flamemem.h are weak symbols'

# ---- exact for any sequence of calls ----

# "by_one 300", "[tag: get] by_two 7": the tags, and the function that allocates.
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
        ok "random requests, seed $seed in $threads threads: the model has more than 20 lines" \
            test "$(wc -l <want)" -gt 20
        is_str "$(ends live)" "$(cat want)" \
            "random requests, seed $seed in $threads threads: the trace agrees with the model"
        is_str "$("$FLAME" dump t.flame | sed -n 's/.* paused_calls=\([0-9]*\) paused_bytes=\([0-9]*\).*/left out \1 \2/p')" \
            "$(grep '^left out' out)" "random requests, seed $seed in $threads threads: the paused calls count"
    done
done
record "referee=1" ./asker random 5 1
is_str "$(ends live)" "$(model)" \
    'random requests under referee=1: the trace agrees with the model'
record "depth=8" ./asker random 6 1
is_str "$(ends live)" "$(model)" \
    'random requests under depth=8: the trace agrees with the model'
run_expect_status 0 'flame mem of random requests succeeds' "$FLAME" mem -o m.folded -- ./asker random 7 2
like "$(grep 'not counted' err)" "not counted, as the program paused the recording: .*$(sed -n 's/^left out [0-9]* //p' out |
    sed ':a; s/\([0-9]\)\([0-9][0-9][0-9]\)\($\|,\)/\1,\2\3/; ta') bytes" \
    'the summary has the bytes of paused calls'

# ---- depths, forks ----

record "" ./asker deep
is_str "$(cat out)" '32 0' 'tags nest 32 deep'
is_str "$(fview live | grep -o '\[tag: deeper\]' | wc -l)" 32 'tags nested deeper count as the 32nd'
is_str "$(fview live | grep -c '^asker;_start.* 20$')" 1 'as many pops as pushes leave no tag'

record "" ./asker forks
is_str "$(ends live "$SCRATCH"/t.flame*)" '[tag: server] [tag: child] keep 2000
[tag: server] keep 100
keep 30000' 'a child has the tags, and the pause, of its parent'

# ---- leaks ----

run_expect_status 23 'flame leak of asker ends with status 23' "$FLAME" leak -o l.flame -- ./asker leaks
file_has err ' 1,003 bytes in 1 block, definite: keep ' 'flame leak reports a leaked block with a tag'
file_lacks err '1,001|4,000| 64 bytes' 'flame leak: blocks that a paused block points to are reachable'
is_str "$(fview leak l.flame | sed 's/;_start.*;keep/;keep/')" 'asker;[tag: lost];keep 1003' \
    'the stack of a leaked block has its tag'
run_expect_status 23 'flame leak --check misuse of asker ends with status 23' \
    "$FLAME" leak --check misuse -o l.flame -- ./asker leaks
file_has err '^flame: leak: 0 misuses' 'flame leak --check misuse: the free of a paused block is no misuse'

# ---- snapshots ----

mkdir snaps
run_expect_status 0 'flame mem --snapshots succeeds' \
    "$FLAME" mem --snapshots snaps -o s.folded -- ./asker snapshots
is_str "$(cat out)" '1
1' 'flamemem_snapshot returns 1 under flame mem --snapshots'
is_str "$(cd snaps && echo ./*)" \
    "$(cd snaps && echo ./asker.*.snapshot-1-half_way____x.flame ./asker.*.snapshot-2.flame)" \
    'names of snapshots have no special characters'
is_str "$(total live snaps/*snapshot-1-*) $(total live snaps/*snapshot-2*) $(total live s.folded)" \
    '5000 12000 12000' 'a snapshot has the live bytes of its moment'
is_str "$(stat -c %a snaps/*snapshot-2*)" 600 'a snapshot has mode 600'
run_expect_status 0 'flame mem without --snapshots succeeds' "$FLAME" mem -o s.folded -- ./asker snapshots
file_has err '^flame: 2 snapshots that the program asked for could not be kept; --snapshots' \
    'flame mem without --snapshots says that the snapshots are not kept'
record "" ./asker snapshots x
is_int "$(total live t.snapshot-1-x.flame)" 5000 'a snapshot without flame lies beside the trace'
: >t.snapshot-1-x.flame
record "" ./asker snapshots x
is_str "$(stat -c %s t.snapshot-1-x.flame; total live t.snapshot-2-x.flame)" '0
5000' 'a snapshot overwrites no file'
for dir in out nowhere; do
    run_expect_status 2 "flame mem --snapshots with a wrong directory ($dir) ends with status 2" \
        "$FLAME" mem --snapshots "$dir" -- true
    is_int "$(wc -l <err)" 1 "flame mem --snapshots with a wrong directory ($dir) prints one line"
done
mkdir a:b
run_expect_status 2 'flame mem --snapshots with a colon in the directory ends with status 2' \
    "$FLAME" mem --snapshots a:b -- true
done_testing
