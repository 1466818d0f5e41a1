#!/bin/bash
# flame off from the command to its result: statuses, output kinds, summary, filters.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp

# A tracer that gets no CPU meanwhile may know less of it; of longer naps it knows more.
naps=(0.2 1 4)
sleep_is_known() {
    run_expect_status 0 'a command that ends well' "$FLAME" off -o x.svg -- sleep "${naps[0]}"
    naps=("${naps[@]:1}")
    grep -Eq '^flame: blocked ((1[5-9]|[2-9][0-9])[0-9]\.[0-9] ms|[0-9.]+ s)' err
}
again 3 sleep_is_known
file_has x.svg '>Off-CPU time<' 'its picture'
file_has x.svg '<title>sleep \([0-9.]+ m?s' 'with the thread at the root'
file_has x.svg '<title>[a-z_]*nanosleep' 'and the call on top'
file_has err '^flame: sleep: traced for [0-9.]+ m?s; 1 thread of 1 process slept' 'how long, who'
file_has err '^flame: blocked ((1[5-9]|[2-9][0-9])[0-9]\.[0-9] ms|[0-9.]+ s), waited for a CPU ' 'what it did'
file_has err '^flame: waited most for: [a-z_]*nanosleep ((1[5-9]|[2-9][0-9])[0-9]\.[0-9] ms|[0-9.]+ s)' 'and for what'
file_has err '^flame: tracing stopped the threads [1-9][0-9]* times, for [0-9.]+ [^ ]*s in all' 'what it cost'
file_has err '^flame: off view in x\.svg; the others: .* --view chain -o ' 'and where it is'
is_str "$(ls tmp)" '' 'nothing is left in TMPDIR'

run "$FLAME" off -o x.svg -- sh -c 'sleep 0.2; sleep 0.1'
file_has err '^flame: waited most for: [a-z_]*nanosleep [0-9.]+ m?s' \
    'a script waited for what its children did, not for them'
run "$FLAME" off --no-follow -o x.svg -- sh -c 'sleep 0.2; true'
file_has err '^flame: waited most for: wait4 child ' 'unless they are not traced'

run_expect_status 3 "the command's own status" "$FLAME" off -q -o x.svg -- sh -c 'sleep 0.01; exit 3'
is_str "$(cat err)" '' '-q says nothing'
run_expect_status 143 'a command that dies of a signal' "$FLAME" off -q -o sig.svg -- \
    sh -c 'sleep 0.01; kill -TERM $$'
ok 'and its picture' test -s sig.svg
# shellcheck disable=SC2016 # the inner shell's
run "$FLAME" off -q -o io.folded -- sh -c 'cat; echo "$0" "$@"; echo err >&2' a 'b c' <"$ROOT/flame.c"
ok 'standard input and output are its own' cmp out <(cat "$ROOT/flame.c" && echo a b c)
is_str "$(cat err)" err 'and standard error'

# One run in every form.
"$FLAME" off -q -o t.flame -- sh -c 'sleep 0.1; sleep 0.05 & wait'
for view in off wakeup offwake chain io runq oncpu hotcold; do
    run_expect_status 0 "$view of the trace" "$FLAME" fold --view "$view" t.flame
    is_str "$(head -n 1 out)" "# flame: view=$view unit=us" "$view says what it is"
done
run_expect_status 0 'latency of the trace' "$FLAME" fold --view latency t.flame
is_str "$(head -n 1 out)" '# flame: view=latency unit=sleeps' 'counts sleeps'
"$FLAME" fold --view chain t.flame >chain.folded
file_has chain.folded '^sh;.*wait.*;--;.*_\[w\];sleep_\[w\]' 'the shell waits for sleep'
run_expect_status 0 'a page' "$FLAME" off -q -o x.html -- sleep 0.05
file_has x.html '"Off-CPU wake chains"' 'has all views'
run_expect_status 0 'a page of one view' "$FLAME" off -q --view chain -o y.html -- sleep 0.05
file_has y.html '"view":"chain"' 'begins with it'
file_has y.html '"Run-queue latency"' 'and has the others'
run_expect_status 0 'a bitmap' "$FLAME" off -q -o x.png -- sleep 0.05
is_str "$(head -c 4 x.png | tail -c 3)" PNG 'is one'
run_expect_status 0 'folded text' "$FLAME" off -q --view offwake -o x.folded -- sleep 0.05
is_str "$(head -n 1 x.folded)" '# flame: view=offwake unit=us' 'of the view'
is_int "$(grep -c '^# flame' x.folded)" 1 'and no other'
file_has x.folded 'nanosleep;--;\[timer\]_\[w\] [0-9]+$' 'a timer woke it'

run_expect_status 0 'filters' "$FLAME" off -o f.folded --comm sh -- sh -c 'sleep 0.1'
file_lacks f.folded '^sleep' 'of other threads nothing is shown'
file_has err '^flame: left out (0\.[1-9]|[1-9])[0-9.]* s of .*; of other threads (0\.[1-9]|[1-9])' 'but said'
# Many that only sleep hide the one thing that happens.
mkfifo held
many='for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 0.3 & done
    flock busy sh -c "echo >held; exec sleep 0.3" & read -r _ <held; flock busy true; wait'
run_expect_status 0 'much idling' "$FLAME" off -o f.folded -- sh -c "$many"
file_has err '^flame: ([3-9]|[1-9][0-9]+)\.[0-9]+ s of ([3-9]|[1-9][0-9]+)\.[0-9]+ s is idle: 1[0-9] threads \((13 )?sleep(, sh)?\) only wait for work; --idle leaves that out$' \
    '--idle is proposed, and who they are said once'
run_expect_status 0 'with --idle' "$FLAME" off --idle -o f.folded -- sh -c "$many"
file_has err '; idle ([3-9]|[1-9][0-9]+)\.[0-9]+ s of 1[0-9] threads \((13 )?sleep(, sh)?\)$' 'it says the same'
file_lacks err '--idle' 'and proposes nothing'
run_expect_status 0 'little idling' "$FLAME" off -o f.folded -- sh -c 'sleep 0.2'
file_lacks err 'idle' 'is not mentioned'
run_expect_status 0 'roots' "$FLAME" off -q -o r.folded --pid --tid -- sleep 0.05
file_has r.folded '^sleep-([0-9]+);sleep-\1;' 'process and thread'
# On a busy machine, too, a sleep is not shorter than requested.
run_expect_status 0 'long sleeps only' "$FLAME" off -q -o m.folded --min-block 3s -- \
    sh -c 'sleep 0.01; sleep 3'
is_int "$(awk '/^sleep/ {n += $NF} END {print (n >= 3000000)}' m.folded)" 1 'are kept'
run_expect_status 0 'short sleeps only' "$FLAME" off -q -o m.folded --max-block 500ms -- sleep 0.5
file_lacks m.folded 'nanosleep' 'are kept, others not'

# Attached.
sleep 30 &
pid=$!
counted_to_the_edges() { # on a busy machine it may wait for a CPU meanwhile
    run_expect_status 0 'attached for a while' "$FLAME" off -o a.folded -d 0.3 -p "$pid"
    grep -Eq '^sleep;.*nanosleep (29|[3-9][0-9]|[1-9][0-9]{2,})[0-9]{4}$' a.folded
}
again 5 counted_to_the_edges
file_has a.folded '^sleep;.*nanosleep (29|[3-9][0-9]|[1-9][0-9]{2,})[0-9]{4}$' 'a sleep is counted to the edges'
file_has err 'cut by the start or the end of the trace: sleeps of ' 'and that is said'
ok 'the process goes on' kill -0 "$pid"
kill "$pid"
done_testing
