#!/usr/bin/env bash
# Known sleeps on every kind of object: as long as by the sleeper's own clock, and
# ended by the waker that the program names.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim sleeps -O1 -fno-optimize-sibling-calls -pthread -lrt
compile_victim convoy -O1 -fno-optimize-sibling-calls -pthread

# measure KIND: a run; $truth by the sleeper's clock and $mine by flame, us; the off view in
# off.folded. Its clock also counts the tracer's own stops of the sleeper (its main
# thread), $stops, and its run-queue wait, $delay.
measure() {
    off --min-block 0 ./sleeps "$1" 5 40
    truth=$(kind=$1 awk '$1 == ENVIRON["kind"] { printf "%.0f", $2 / 1000 }' out)
    truth=${truth:-0}
    delay=$(kind=$1 awk '$1 == ENVIRON["kind"] { printf "%.0f", $3 / 1000 }' out)
    oview off >off.folded
    mine=$(sum '[;]sleeper[; ]' <off.folded)
    stops=$("$FLAME" dump t.flame | awk '
        $1 == "thread" { id = tid = pid = 0
            for (i = 2; i <= NF; i++) { split($i, v, "="); if (v[1] == "id") id = v[2]
                if (v[1] == "tid") tid = v[2]; if (v[1] == "pid") pid = v[2] }
            if (tid == pid && !main) main = id }
        / kind=tracer / { match($0, / thread=[0-9]+/); t = substr($0, RSTART + 8, RLENGTH - 8)
            match($0, / blocked_ns=[0-9]+/); ns[t] += substr($0, RSTART + 12, RLENGTH - 12) }
        END { printf "%d", ns[main] / 1000 }')
}

# flame's time is the clock's, or less by at most the stops and the delay.
is_true() {
    local less=$((stops + delay))

    is_near "$mine" "$truth" || { [ "$mine" -gt 0 ] && [ "$mine" -lt "$truth" ] &&
        is_near $((mine + (truth - mine < less ? truth - mine : less))) "$truth"; }
}

# Whether offwake.folded has the time of the sleeper ended by $want; $all and $woken of it.
is_woken() {
    all=$(sum '[;]sleeper[; ]' <offwake.folded)
    woken=$(sum "$want" <offwake.folded)
    [ "$all" -gt 0 ] && [ $((woken * 100)) -ge $((all * 98)) ]
}

# both_true KIND: in one run the time is the clock's, and the waker is right. A host may take the
# CPU away from the machine itself, and only the sleeper's clock sees that; and on a busy one a signal
# may be there before the sleeper waits for it. Not every time; a real error would occur each time.
both_true() {
    measure "$1"
    oview offwake >offwake.folded
    is_true && is_woken
}

while read -r kind ender; do
    case $ender in
    thread) want=';sleeper;.*;--;.*waker_\[w\];wakes_\[w\]' ;;
    time) want=';sleeper;.*;--;\[timer\]' ;;
    child) want=';sleeper;.*;--;.*child_ends_\[w\]' ;;
    join) want=';sleeper;.*;--;' ;;
    esac
    again 10 both_true "$kind"
    is_int "$status" 0 "sleeps $kind: flame off ends with the command's status"
    if is_true; then
        test_ok "sleeps $kind: off-CPU time is that of the program's clock"
    else
        test_fail "sleeps $kind: off-CPU time is that of the program's clock" \
            "$mine us, of $truth us by the clock, of which $stops us are the tracer's and $delay us for want of a CPU"
    fi
    if is_woken; then
        test_ok "sleeps $kind: the waker is right"
    else
        test_fail "sleeps $kind: the waker is right" "$woken of $all us
$(grep -F ';sleeper' offwake.folded)"
    fi
done < <(./sleeps list)

# The chains of a convoy: the parts are as long as the sleep of its end. Of them the sleep of the front is at
# the end of the chain; the rest is the threads' own: running, run queue, stops.
all=';back;.*g_second'
line="$all"'.*;--;.*;middle_\[w\].*middle.*;--;.*;front_\[w\].*front'
has_front() { [ "$front" -ge "$((truth * 9 / 10))" ] && [ "$front" -le "$((truth + 1000))" ]; }
convoy_true() {
    off --min-block 0 ./convoy 60
    truth=$(awk '{ printf "%.0f", $1 / 1000 }' out)
    oview chain >chain.folded
    front=$(sum "$line" <chain.folded)
    is_near "$(sum "$all" <chain.folded)" "$truth" && has_front
}
again 10 convoy_true
near "$(sum "$all" <chain.folded)" "$truth" 'the chains of a convoy of three locks are as long as its sleep'
if has_front; then
    test_ok 'the front of a convoy has the time that it slept'
else
    test_fail 'the front of a convoy has the time that it slept' "$front us of $truth us: $(cat chain.folded)"
fi

done_testing
