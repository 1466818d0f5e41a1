#!/bin/bash
# flame off from the command to its result: statuses, output kinds, summary, filters.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp

# A tracer that gets no CPU meanwhile may see only a part of the sleep; of a longer one it sees more.
naps=(0.2 1 4)
sleep_is_known() {
    run_expect_status 0 'flame off of a command that succeeds has status 0' \
        "$FLAME" off -o x.svg -- sleep "${naps[0]}"
    naps=("${naps[@]:1}")
    grep -Eq '^flame: blocked ((1[5-9]|[2-9][0-9])[0-9]\.[0-9] ms|[0-9.]+ s)' err
}
again 3 sleep_is_known
file_has x.svg '>Off-CPU time<' 'flame off draws the off-CPU picture'
file_has x.svg '<title>sleep \([0-9.]+ m?s' 'the off-CPU picture has the thread at the root'
file_has x.svg '<title>[a-z_]*nanosleep' 'the off-CPU picture has the system call on top'
file_has err '^flame: sleep: traced for [0-9.]+ m?s; 1 thread of 1 process slept' \
    'the summary of flame off: duration, threads and processes'
file_has err '^flame: blocked ((1[5-9]|[2-9][0-9])[0-9]\.[0-9] ms|[0-9.]+ s), waited for a CPU ' \
    'the summary of flame off: blocked time and run-queue wait'
file_has err '^flame: waited most for: [a-z_]*nanosleep ((1[5-9]|[2-9][0-9])[0-9]\.[0-9] ms|[0-9.]+ s)' \
    'the summary of flame off: the longest wait'
file_has err '^flame: tracing stopped the threads [1-9][0-9]* times, for [0-9.]+ [^ ]*s in all' \
    'the summary of flame off: what tracing cost'
file_has err '^flame: off view in x\.svg; the others: .* --view chain -o ' \
    'the summary of flame off: where the picture is'
is_str "$(ls tmp)" '' 'flame off leaves no file in TMPDIR'

run "$FLAME" off -o x.svg -- sh -c 'sleep 0.2; sleep 0.1'
file_has err '^flame: waited most for: [a-z_]*nanosleep [0-9.]+ m?s' \
    "the longest wait of a script is its child's sleep, not its wait for the child"
run "$FLAME" off --no-follow -o x.svg -- sh -c 'sleep 0.2; true'
file_has err '^flame: waited most for: wait4 child ' \
    'the longest wait of a script under --no-follow is for its child'

run_expect_status 3 "flame off ends with the command's status" \
    "$FLAME" off -q -o x.svg -- sh -c 'sleep 0.01; exit 3'
is_str "$(cat err)" '' 'flame off -q prints no summary'
run_expect_status 143 'flame off of a command that dies of SIGTERM ends with status 143' \
    "$FLAME" off -q -o sig.svg -- \
    sh -c 'sleep 0.01; kill -TERM $$'
ok 'flame off of a command that dies of SIGTERM has a picture' test -s sig.svg
# shellcheck disable=SC2016 # the inner shell's
run "$FLAME" off -q -o io.folded -- sh -c 'cat; echo "$0" "$@"; echo err >&2' a 'b c' <"$ROOT/flame.c"
ok "the command has flame off's standard input and output" cmp out <(cat "$ROOT/flame.c" && echo a b c)
is_str "$(cat err)" err "the command has flame off's standard error"

# One run in every form.
"$FLAME" off -q -o t.flame -- sh -c 'sleep 0.1; sleep 0.05 & wait'
for view in off wakeup offwake chain io runq oncpu hotcold; do
    run_expect_status 0 "fold --view $view of a recorded trace succeeds" "$FLAME" fold --view "$view" t.flame
    is_str "$(head -n 1 out)" "# flame: view=$view unit=us" \
        "fold --view $view of a recorded trace: the header names view and unit"
done
run_expect_status 0 'fold --view latency of a recorded trace succeeds' "$FLAME" fold --view latency t.flame
is_str "$(head -n 1 out)" '# flame: view=latency unit=sleeps' 'fold --view latency counts sleeps'
"$FLAME" fold --view chain t.flame >chain.folded
file_has chain.folded '^sh;.*wait.*;--;.*_\[w\];sleep_\[w\]' \
    "a chain leads from the shell's wait to the child's sleep"
run_expect_status 0 'flame off -o x.html succeeds' "$FLAME" off -q -o x.html -- sleep 0.05
file_has x.html '"Off-CPU wake chains"' 'the page of flame off has all views'
run_expect_status 0 'flame off --view chain -o y.html succeeds' \
    "$FLAME" off -q --view chain -o y.html -- sleep 0.05
file_has y.html '"view":"chain"' 'the page of flame off --view chain shows that view first'
file_has y.html '"Run-queue latency"' 'the page of flame off --view chain has the other views'
run_expect_status 0 'flame off -o x.png succeeds' "$FLAME" off -q -o x.png -- sleep 0.05
is_str "$(head -c 4 x.png | tail -c 3)" PNG 'flame off -o x.png writes a PNG'
run_expect_status 0 'flame off --view offwake -o x.folded succeeds' \
    "$FLAME" off -q --view offwake -o x.folded -- sleep 0.05
is_str "$(head -n 1 x.folded)" '# flame: view=offwake unit=us' 'the folded text has the requested view'
is_int "$(grep -c '^# flame' x.folded)" 1 'the folded text has no other view'
file_has x.folded 'nanosleep;--;\[timer\]_\[w\] [0-9]+$' 'the waker of nanosleep is a timer'

run_expect_status 0 'flame off --comm succeeds' "$FLAME" off -o f.folded --comm sh -- sh -c 'sleep 0.1'
file_lacks f.folded '^sleep' 'flame off --comm shows no other thread'
file_has err '^flame: left out (0\.[1-9]|[1-9])[0-9.]* s of .*; of other threads (0\.[1-9]|[1-9])' \
    'flame off --comm reports the time of other threads'
# Many idle threads hide the one event of interest.
mkfifo held
many='for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 1 & done
    flock busy sh -c "echo >held; exec sleep 1" & read -r _ <held; flock busy true; wait'
run_expect_status 0 'flame off of many idle threads succeeds' "$FLAME" off -o f.folded -- sh -c "$many"
file_has err '^flame: ([3-9]|[1-9][0-9]+)\.[0-9]+ s of ([3-9]|[1-9][0-9]+)\.[0-9]+ s is idle: 1[0-9] threads \((13 )?sleep(, sh)?\) only wait for work; --idle leaves that out$' \
    'the summary proposes --idle and names each idle thread once'
run_expect_status 0 'flame off --idle of many idle threads succeeds' \
    "$FLAME" off --idle -o f.folded -- sh -c "$many"
file_has err '; idle ([3-9]|[1-9][0-9]+)\.[0-9]+ s of 1[0-9] threads \((13 )?sleep(, sh)?\)$' \
    'flame off --idle reports the idle threads'
file_lacks err '--idle' 'flame off --idle does not propose --idle'
run_expect_status 0 'flame off of a single sleep succeeds' "$FLAME" off -o f.folded -- sh -c 'sleep 0.2'
file_lacks err 'idle' 'the summary of a single sleep does not propose --idle'
run_expect_status 0 'flame off --pid --tid succeeds' "$FLAME" off -q -o r.folded --pid --tid -- sleep 0.05
file_has r.folded '^sleep-([0-9]+);sleep-\1;' 'flame off --pid --tid shows process and thread ids'
# On a busy machine, too, a sleep is not shorter than requested.
run_expect_status 0 'flame off --min-block succeeds' "$FLAME" off -q -o m.folded --min-block 3s -- \
    sh -c 'sleep 0.01; sleep 3'
is_int "$(awk '/^sleep/ {n += $NF} END {print (n >= 3000000)}' m.folded)" 1 \
    'flame off --min-block keeps the long sleep'
run_expect_status 0 'flame off --max-block succeeds' "$FLAME" off -q -o m.folded --max-block 500ms -- sleep 0.5
file_lacks m.folded 'nanosleep' 'flame off --max-block drops the long sleep'

# Attached.
sleep 30 &
pid=$!
counted_to_the_edges() { # on a busy machine it may wait for a CPU meanwhile
    run_expect_status 0 'flame off -p -d 0.3 succeeds' "$FLAME" off -o a.folded -d 0.3 -p "$pid"
    grep -Eq '^sleep;.*nanosleep (29|[3-9][0-9]|[1-9][0-9]{2,})[0-9]{4}$' a.folded
}
again 5 counted_to_the_edges
file_has a.folded '^sleep;.*nanosleep (29|[3-9][0-9]|[1-9][0-9]{2,})[0-9]{4}$' \
    'a sleep that spans the whole trace counts from start to end'
file_has err 'cut by the start or the end of the trace: sleeps of ' \
    'the summary reports sleeps cut by the start or end of the trace'
ok 'the attached process still runs after detach' kill -0 "$pid"
kill "$pid"
done_testing
