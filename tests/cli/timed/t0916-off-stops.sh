#!/bin/bash
# The time of the tracer's stops is reported: a tracer that hardly gets a CPU keeps threads stopped,
# and reports it. tests/unit/tracer/test_attach.c tests that no thread stays stopped for others.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim pauses

mkfifo hold
# Stops of a tracer that has to wait for its CPU: $longest is the longest that it reports, $noticed the gap that the
# thread measured between two naps, $stood the same without run-queue waits.
observe() {
    local flame victim tracer cpu hogs=
    : >said
    ./pauses <hold >said &
    victim=$!
    exec 3>hold
    until_true grep -q ready said
    "$FLAME" off -o t.flame -d 4 -p "$victim" 2>err </dev/null &
    flame=$!
    until_traced "$victim"
    tracer=$(awk '/^TracerPid/ {print $2}' "/proc/$victim/status")

    # For a while the tracer shares one CPU with many, and is the last to get it.
    cpu=$(taskset -cp $$ | sed 's/.*[^0-9]//')
    taskset -cp "$cpu" "$tracer" >taskset.out && behind=1
    renice -n 19 -p "$tracer" >renice.out
    for _ in 1 2 3 4; do
        taskset -c "$cpu" sh -c 'while :; do :; done' &
        hogs="$hogs $!"
    done
    sleep 2
    # shellcheck disable=SC2086 # a list
    kill $hogs
    wait "$flame"
    status=$?
    exec 3>&-
    wait "$victim"
    longest=$(sed -nE 's/^flame: the longest stop was ([0-9.]+) (m?s), of pauses, .*/\1 \2/p' err |
        awk '{printf "%d", $1 * ($2 == "s" ? 1000000 : 1000)}')
    longest=${longest:-0}
    read -r noticed stood < <(tail -n 1 said)
}

# The machine itself may stall, and the thread with it: then the test tries again.
stop_is_told() {
    behind=0
    observe
    [ $((longest * 3)) -ge "$stood" ]
}
again 5 stop_is_told
is_int "$behind" 1 'the tracer has the lowest priority on a busy CPU'
is_int "$status" 0 'flame off with a tracer that hardly gets a CPU ends with status 0'
ok "the summary reports the longest stop of a thread, $longest us" [ "$longest" -gt 50000 ]
ok "the longest stop is at most the thread's own measurement, $noticed us" \
    [ $((longest * 9)) -le $((noticed * 10)) ]
# A nap has a stop at its beginning and one at its end.
ok "the longest stop is at least a third of the thread's own measurement, $stood us" \
    [ $((longest * 3)) -ge "$stood" ]
file_has err '^flame: tracing stopped the threads [0-9,]+ times, for [0-9.]+ [^ ]*s in all' \
    'the summary reports the number and sum of stops'

# If the machine stalls, the command does, too.
short_stops() {
    "$FLAME" off -o u.flame -- sleep 0.1 2>err
    ! grep -q 'longest stop' err
}
again 10 short_stops
file_lacks err 'longest stop' 'the summary does not report short stops'
done_testing
