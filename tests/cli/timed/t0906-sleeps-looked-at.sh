#!/bin/bash
# flame off --no-stops: known sleeps are as long as by the program's own clock and on the right
# object, and all times of a thread add up; also without the kernel's switch records.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
. "$ROOT/tests/cli/noperf.sh"

compile_victim looked -O1 -fno-optimize-sibling-calls -pthread

# start COMMAND...: runs a program that says `ready` and waits; its input is descriptor 3.
start() {
    rm -f said hold
    mkfifo -m 666 hold
    "$@" <hold >said 2>&1 &
    pid=$!
    exec 3>hold
    until_true grep -qs ready said
}

stop() {
    exec 3>&-
    wait "$pid"
}

# The wrapper that flame runs under: none, or one that refuses perf_event_open.
how=()

# look: runs --no-stops of $pid in the background, until `wait $flame`; the trace is t.flame.
look() {
    rm -f t.flame
    "${how[@]}" "$FLAME" off --no-stops -o "$SCRATCH/t.flame" -p "$pid" 2>err </dev/null 3>&- &
    flame=$!
    until_looked_at "$pid" "$flame"
}

# Each thread of t.flame: name, time traced, all rows together, us.
accounts() {
    "$FLAME" dump t.flame | awk '
        { for (i = 2; i <= NF; i++) { eq = index($i, "="); v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
        $1 == "thread" { wall[v["id"]] = v["wall_ns"]; name[v["id"]] = v["comm"] }
        $1 == "row" { all[v["thread"]] += v["blocked_ns"] + v["runq_ns"] + v["cpu_ns"] }
        END { for (t in wall) printf "%s %.0f %.0f\n", name[t], wall[t] / 1000, all[t] / 1000 }'
}

# kind KIND [FUNCTION]: $truth by its own clock, $mine with a stack, $rest without one; us.
kind() {
    truth=$(kind=$1 awk '$1 == ENVIRON["kind"] { printf "%.0f", $2 / 1000 }' said)
    delay=$(kind=$1 awk '$1 == ENVIRON["kind"] { printf "%.0f", $3 / 1000 }' said)
    truth=${truth:-0}
    delay=${delay:-0}
    mine=$(sum "^$1;.*;sleep_${2:-$1}[; ]" <off.folded)
    rest=$(sum "^$1;\[(sleeps not caught|short sleeps)\]" <off.folded)
}

# By the program's clock, except for its run-queue wait.
is_true() {
    kind "$1"
    is_near "$mine" "$truth" ||
        { [ "$mine" -lt "$truth" ] && is_near $((mine + delay > truth ? truth : mine + delay)) "$truth"; }
}

all_true() {
    local k
    for k in naps locks reads polls accepts; do
        is_true "$k" || return
    done
    # The start and end of a thread take time, and its creator waits for that, too.
    kind comes naps
    [ "$mine" -gt 300000 ] && [ "$mine" -le "$truth" ]
}

# look_at NAME N: a run of N known sleeps of 40 ms of each kind.
look_at() {
    start ./looked "$2" 40
    look
    echo >&3
    until_true grep -q finished said
    stop
    is_str "$?" 0 "--no-stops, $1: the program ends with status 0"
    wait "$flame"
    status=$?
    oview off >off.folded
}
known_sleeps() {
    look_at "$1" 8
    all_true
}

# truth NAME: the known sleeps; again if the machine stalled, which disturbs each sample.
truth() {
    local k
    again 8 known_sleeps "$1"
    is_str "$status" 0 "--no-stops, $1: the tracer ends with status 0"
    for k in naps locks reads polls accepts; do
        if is_true $k; then
            test_ok "--no-stops, $1, $k: sleeps are as long as by the program"
        else
            test_fail "--no-stops, $1, $k: sleeps are as long as by the program" \
                "$mine us, $rest us without a stack, of $truth us; $delay us for want of a CPU"
        fi
    done
    kind comes naps
    ok "--no-stops, $1: short-lived threads are in the trace" test "$mine" -gt 300000 -a "$mine" -le "$truth"
    file_has off.folded '^locks;.*;sleep_locks;.*;futex g_lock [0-9]*$' \
        "--no-stops, $1: a wait for a lock has the lock's name"
    file_has off.folded '^reads;.*;sleep_reads;.*read pipe:\[\*\] ' "--no-stops, $1: a read has its pipe"
    file_has off.folded '^polls;.*;sleep_polls;.*poll pipe:\[\*\] ' "--no-stops, $1: a poll has its pipe"
    file_has off.folded '^accepts;.*;sleep_accepts;.*accept unix:@flame-looked-' \
        "--no-stops, $1: an accept has its socket"
    file_has off.folded '^naps;.*;sleep_naps;.*nanosleep ' "--no-stops, $1: a nanosleep has no object"
    file_has off.folded '^stays;.*;stayer;.*futex ' \
        "--no-stops, $1: a thread that sleeps all the time is in the trace"
    accounts >sums
    is_str "$(awk '$1 == "stays" { print ($3 > $2 * 0.99 && $3 < $2 * 1.01) }' sums)" 1 \
        "--no-stops, $1: a thread that sleeps all the time has all of it"
    # The first moments of a new thread count for its creator.
    is_str "$(awk '{ away = $3 > $2 ? $3 - $2 : $2 - $3; if (away > 1000 && away * 50 > $2) print }' sums)" '' \
        "--no-stops, $1: the times of each thread sum to its duration"
    oview offwake >offwake.folded
    file_has offwake.folded '^naps;.*;nanosleep;--;\[timer\]' \
        "--no-stops, $1: the waker of a nanosleep is the timer"
    file_has offwake.folded '^locks;.*;--;\[unknown\]' "--no-stops, $1: other wakers are unknown"
}

truth 'with switch records'
if grep -q 'perf_event_open' err; then
    skip perf-sched 'the kernel tells nobody of switches here'
else
    file_has err '^flame: no thread was stopped: wakers are not known; [0-9]* sleeps shorter than 2 ms are' \
        'the summary of --no-stops says what is unknown'
    file_lacks err 'tracing stopped' 'the summary of --no-stops does not mention stops'
fi

# The end of a sleep is known only to some milliseconds.
is_near_enough() {
    kind "$1"
    [ $((mine + rest)) -gt $((truth * 9 / 10)) ] && [ "$mine" -gt $((truth / 2)) ] &&
        [ "$mine" -lt $((truth * 12 / 10)) ]
}
all_near_enough() {
    local k
    for k in naps locks reads polls accepts; do
        is_near_enough "$k" || return
    done
}
how=(python3 noperf.py)
refused_sleeps() {
    look_at refused 20
    all_near_enough
}
again 8 refused_sleeps
is_str "$status" 0 '--no-stops without perf_event_open ends with status 0'
file_has err '^flame: --no-stops: perf_event_open is refused, .*; until then /proc is read every 2 ms: ' \
    '--no-stops without perf_event_open says that it polls /proc'
for k in naps locks reads polls accepts; do
    ok "--no-stops without perf_event_open, $k: most of the sleeps are in the trace" is_near_enough $k
done
file_has off.folded '^locks;.*;sleep_locks;.*;futex g_lock [0-9]*$' \
    "--no-stops without perf_event_open: a wait for a lock has the lock's name"
done_testing
