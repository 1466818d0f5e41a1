#!/bin/bash
# The time of the tracer's stops is reported: a tracer that hardly gets a CPU keeps threads stopped,
# and says so. tests/unit/tracer/test_attach.c tests that no thread stays stopped for others.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim pauses

mkfifo hold
# Stops of a tracer that has to wait for its CPU: $longest is the longest as it says, $noticed what the
# thread saw between two naps, $stood the same without waits for a CPU.
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

# A machine may stand still by itself, and the thread with it: then it is looked at again.
stop_is_told() {
    behind=0
    observe
    [ $((longest * 3)) -ge "$stood" ]
}
again 5 stop_is_told
is_int "$behind" 1 'the tracer is put behind others'
is_int "$status" 0 'a tracer that hardly gets a CPU'
ok "says how long a thread stood, $longest us" [ "$longest" -gt 50000 ]
ok "which is no longer than that thread noticed, $noticed us" [ $((longest * 9)) -le $((noticed * 10)) ]
# A nap has a stop at its beginning and one at its end.
ok "and no less than a third of that without waits for a CPU, $stood us" [ $((longest * 3)) -ge "$stood" ]
file_has err '^flame: tracing stopped the threads [0-9,]+ times, for [0-9.]+ [^ ]*s in all' 'and the sum'

# Where the machine stands, so does the command.
short_stops() {
    "$FLAME" off -o u.flame -- sleep 0.1 2>err
    ! grep -q 'longest stop' err
}
again 10 short_stops
file_lacks err 'longest stop' 'short stops are not worth a line'
done_testing
