#!/bin/bash
# flame off -p PID --no-stops: known sleeps are as long as the program's own clock says and are on
# what they are on, all times of a thread add up, and nothing stops; also where the kernel does not
# tell of switches, for a plain user, and in a process that has a tracer already.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"
. "$ROOT/tests/cli/noperf.sh"

compile_victim looked -O1 -fno-optimize-sibling-calls -pthread
compile_victim idlers -pthread
chmod 755 .
mkdir -m 1777 tmp
export TMPDIR=$SCRATCH/tmp

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

# look [OPTION...]: --no-stops of $pid in the background, until `wait $flame`; the trace is t.flame.
look() {
    rm -f t.flame
    "${how[@]}" "$FLAME" off --no-stops -o "$SCRATCH/t.flame" "$@" -p "$pid" 2>err </dev/null 3>&- &
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

# ---- the truth ----

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
how=()

# ---- nothing of it is noticed ----

start ./idlers 100
look -q
not_ok 'it has no tracer' is_traced "$pid"
"$FLAME" off -q -o other.folded -d 0.3 -p "$pid" 2>other.err </dev/null
is_str "$? $(cat other.err)" '0 ' 'so it can have one'
kill -INT "$flame"
wait "$flame"
is_str "$? $(cat err)" '0 ' 'SIGINT ends it, with a result'
ok 'of all threads' test "$(oview off --tid | grep -c ';idle')" -ge 100
"$FLAME" off -q -o other.folded -p "$pid" 2>other.err </dev/null 3>&- &
other=$!
until_traced "$pid"
look -q -d 0.5
wait "$flame"
is_str "$? $(cat err)" '0 ' 'and one that has a tracer can be looked at'
file_has <(oview off) ';idle' 'with its stacks'
kill -INT "$other"
wait "$other"
kill -STOP "$pid"
look -q -d 0.3
wait "$flame"
is_str "$?" 0 'a process that is stopped'
is_str "$(awk '/^State/ { print $2 }' "/proc/$pid/status")" T 'stays so'
is_str "$("$FLAME" dump -s row t.flame | grep -c ' kind=stopped ')" 101 'which is what its threads do'
kill -CONT "$pid"
look -q
kill -9 "$pid"
wait "$flame"
is_str "$?" 0 'where it is killed, the tracing ends'
exec 3>&-
wait "$pid" 2>/dev/null

# ---- who may ----

if [ "$(id -u)" -eq 0 ]; then
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    mkdir -m 777 theirs
    start "${nobody[@]}" ./idlers 3
    rm -f t.flame
    run "${nobody[@]}" "$FLAME" off --no-stops -q -d 0.3 -o theirs/t.folded -p "$pid"
    is_str "$status" 0 'a plain user looks at what is its own'
    file_has theirs/t.folded ';idle' 'and sees its stacks'
    stop
    start ./idlers 3
    run "${nobody[@]}" "$FLAME" off --no-stops -q -d 0.3 -o theirs/u.folded -p "$pid"
    is_str "$status" 2 'and not at others'
    like "$(cat err)" "^flame: process $pid belongs to user 0: trace it as that user, as root, or with CAP_SYS_PTRACE\$" \
        'one line says why'
    not_ok 'and nothing is made' test -e theirs/u.folded
    stop
fi

# ---- wrong use ----

refuses() { # LINE ARGUMENT...
    local line=$1
    shift
    run "$FLAME" off --no-stops -o no.svg "$@"
    is_str "$status $(cat err)" "2 flame: $line" "off --no-stops $*"
    not_ok 'nothing is made' test -e no.svg
}
refuses 'off: --no-stops is for processes that run: it needs -p, and no command' -- true
refuses 'off: --inside is for commands, without -p' --inside -p $$
refuses 'off: --no-stops cannot look at threads that run: leave out --hz and views of time on a CPU' --hz 9 -p $$
refuses 'off: --no-stops cannot look at threads that run: leave out --hz and views of time on a CPU' \
    --view oncpu -p $$
refuses 'off: --no-stops looks at sleeps of 500 us and longer; --min-block is less' --min-block 10us -p $$
refuses 'process 2147483000: there is no such process' -p 2147483000

done_testing
