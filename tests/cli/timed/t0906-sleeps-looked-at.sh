#!/bin/bash
# flame off --no-stops: known sleeps are as long as the program's own clock says and are on what they
# are on, and all times of a thread add up; also where the kernel does not tell of switches.
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

# The wrapper that flame runs under: nothing, or something that refuses it perf_event_open.
how=()

# look: --no-stops of $pid in the background, until `wait $flame`; the trace is t.flame.
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

# By the program's clock, but for moments in which it was ready and had no CPU.
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
    # To begin and to end takes a thread a moment, and its maker waits for that, too.
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
    is_str "$?" 0 "$1: the program ends well"
    wait "$flame"
    status=$?
    oview off >off.folded
}
known_sleeps() {
    look_at "$1" 8
    all_true
}

# truth NAME: the known sleeps; again where the machine stood still, which no look survives.
truth() {
    local k
    again 8 known_sleeps "$1"
    is_str "$status" 0 "$1: and so does the tracer, with it"
    for k in naps locks reads polls accepts; do
        if is_true $k; then
            test_ok "$1, $k: as long as the program says"
        else
            test_fail "$1, $k: as long as the program says" \
                "$mine us, $rest us without a stack, of $truth us; $delay us for want of a CPU"
        fi
    done
    kind comes naps
    ok "$1: threads that come and go are seen" test "$mine" -gt 300000 -a "$mine" -le "$truth"
    file_has off.folded '^locks;.*;sleep_locks;.*;futex g_lock [0-9]*$' 'a lock goes by its name'
    file_has off.folded '^reads;.*;sleep_reads;.*read pipe:\[\*\] ' 'a pipe is one'
    file_has off.folded '^polls;.*;sleep_polls;.*poll pipe:\[\*\] ' 'also where it is polled'
    file_has off.folded '^accepts;.*;sleep_accepts;.*accept unix:@flame-looked-' 'and a socket'
    file_has off.folded '^naps;.*;sleep_naps;.*nanosleep ' 'or time alone'
    file_has off.folded '^stays;.*;stayer;.*futex ' 'who sleeps all the time is there'
    accounts >sums
    is_str "$(awk '$1 == "stays" { print ($3 > $2 * 0.99 && $3 < $2 * 1.01) }' sums)" 1 \
        'for all the time'
    # A newborn's first moments are its maker's.
    is_str "$(awk '{ away = $3 > $2 ? $3 - $2 : $2 - $3; if (away > 1000 && away * 50 > $2) print }' sums)" '' \
        "$1: what each thread did is as long as it was there"
    oview offwake >offwake.folded
    file_has offwake.folded '^naps;.*;nanosleep;--;\[timer\]' 'time ends what waits for time'
    file_has offwake.folded '^locks;.*;--;\[unknown\]' 'who else did is not known'
}

truth 'by the kernel'
if grep -q 'perf_event_open' err; then
    skip perf-sched 'the kernel tells nobody of switches here'
else
    file_has err '^flame: no thread was stopped: wakers are not known; [0-9]* sleeps shorter than 2 ms are' \
        'what is not known is said'
    file_lacks err 'tracing stopped' 'and nothing of stops'
fi

# Each end of a sleep is known to some milliseconds only.
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
is_str "$status" 0 'and so does the tracer'
file_has err '^flame: --no-stops: perf_event_open is refused, .*; until then /proc is read every 2 ms: ' \
    'one line says what is done instead'
for k in naps locks reads polls accepts; do
    ok "refused, $k: most of it is seen" is_near_enough $k
done
file_has off.folded '^locks;.*;sleep_locks;.*;futex g_lock [0-9]*$' 'with what it is on'
done_testing
