#!/bin/bash
# Attaching and leaving: no call ends early, nothing stays behind, whatever ends the tracer.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim patience -pthread
compile_victim idlers -pthread

# start VICTIM [ARGUMENT...]: runs it until stop; its output is in $SCRATCH/said.
start() {
    rm -f said hold
    mkfifo hold
    "$@" <hold >said 2>&1 &
    pid=$!
    exec 3>hold
    until_true grep -q ready said
}

stop() {
    exec 3>&-
    wait "$pid"
}

tracer_of() {
    awk '/^TracerPid/ {print $2}' "/proc/$1/status"
}

state_of() {
    awk '/^State/ {print $2}' "/proc/$1/status"
}

# Not traced; in state STATE (a process that is stopped under a tracer is in t).
is() {
    case $1 in
    free) [ "$(tracer_of "$pid")" = 0 ] ;;
    *) [ "$(state_of "$pid")" = "$1" ] ;;
    esac
}

# ---- calls that a stop would end ----

start ./patience
rounds=0
failed=0
for time in 1 5 10 20 30 40 50 70; do
    for hz in 0 99; do
        for _ in 1 2; do
            "$FLAME" off -q -o a.folded --hz $hz -d ${time}ms -p "$pid" 2>err </dev/null ||
                failed=$((failed + 1))
            [ "$(tracer_of "$pid")" = 0 ] || failed=$((failed + 1))
            rounds=$((rounds + 1))
        done
    done
done
is_int "$failed" 0 "$rounds times attached and left"
# Calls that hardly slept in half a second.
too_short() {
    sed -n 's/.*;wait_\(epoll\|epoll_timed\|semop\|recv\|recv_timed\|sigwait\);.* \([0-9]*\)$/\1 \2/p' a.folded |
        awk '{ us[$1] += $2 } END { for (w in us) if (us[w] <= 350000) print w, us[w] }'
}
# On a busy machine they also wait for a CPU, each time they are woken; not in every run.
long_enough() {
    "$FLAME" off -q -o a.folded --min-block 1ms -d 0.5 -p "$pid" 2>err </dev/null
    [ -z "$(too_short)" ]
}
again 5 long_enough
stop
is_int $? 0 'the program went on to its end'
file_has said '^write .*rounds=[1-9]' 'and was not idle'
is_str "$(grep -v -e ' eintr=0 short=0 ' -e '^ready' said)" '' 'no call returned EINTR or short'
for wait in epoll epoll_timed epoll_long sigwait sigtimedwait semop semtimedop recv recv_timed \
    read_timed poll nanosleep eventfd; do
    file_has said "^$wait eintr=0" "$wait was tried"
    file_has a.folded ";wait_${wait}[_;].* [1-9][0-9]*\$" "$wait is in the picture"
done
# Nearly half a second each, although some of them slept when we came and when we left; of the
# first sleep the stack may be told otherwise than of those that follow.
is_str "$(too_short)" '' 'sleeps that began before the trace are counted'

# ---- many threads ----

start ./idlers 1000
# (To attach to them all takes a busy machine a while, in which none is known to sleep.)
all_sleep() {
    run_expect_status 0 'a thousand threads' "$FLAME" off -q -o a.folded -d 2 -p "$pid"
    slept=$(awk '/;idle;/ {n += $NF} END {print (n > 1000 * 1670000)}' a.folded)
    [ "$slept" = 1 ]
}
again 5 all_sleep
is_int "$slept" 1 'are all seen to sleep'
stop
is_int $? 0 'and end well'

# ---- ways to end ----

start ./idlers 3
for sig in INT TERM HUP; do
    "$FLAME" off -q -o "$sig.folded" -p "$pid" 2>err </dev/null &
    flame=$!
    until_attached "$pid"
    kill "-$sig" $flame
    wait $flame
    is_int $? 0 "SIG$sig ends the tracing"
    file_has "$sig.folded" ';idle;' 'with a result'
    ok 'and the process runs on' is free
done

"$FLAME" off -o killed.folded -p "$pid" 2>err </dev/null &
flame=$!
until_attached "$pid"
kill -9 "$(tracer_of "$pid")"
until_true is free
wait $flame
is_str "$(state_of "$pid")" S 'a tracer killed by SIGKILL leaves the process running'
file_has err 'flame: the tracer was ended by signal 9; the recording up to then is kept' \
    'which is said'

"$FLAME" off -q -o orphan.folded -p "$pid" 2>err </dev/null &
flame=$!
until_traced "$pid"
disown $flame
kill -9 $flame
ok 'when flame is killed its tracer lets go' comes_true is free
stop
is_int $? 0 'and after all that the program ends well'

# ---- job control ----

start ./idlers 3
kill -STOP "$pid"
until_true is T
run_expect_status 0 'a stopped process' "$FLAME" off -o s.folded -d 0.2 -p "$pid"
is_str "$(state_of "$pid")" T 'is still stopped'
file_lacks err 'the longest stop' 'no stop is told to be longer than the trace'
# A tracer without a CPU may learn of the stop of some threads when they go on.
goes_on_later() {
    kill -STOP "$pid"
    until_true is T
    "$FLAME" off -q -o s.flame -p "$pid" 2>err </dev/null &
    flame=$!
    until_traced "$pid"
    kill -CONT "$pid"
    until_attached "$pid"
    kill -INT "$flame"
    wait "$flame"
    status=$?
    "$FLAME" dump s.flame >dumped
    [ "$(grep -c '^row .* kind=stopped ' dumped)" = 4 ]
}
again 5 goes_on_later
is_int "$status" 0 'a process that goes on later'
is_int "$(grep -c '^thread .* wall_ns=[1-9]' dumped)" 4 'has all its threads in the trace'
is_int "$(grep -c '^row .* kind=stopped ' dumped)" 4 'with how long they were stopped'
is_int "$(grep -c '^row .* kind=lock .* sleeps=[1-9]' dumped)" 3 'and what they waited for'
kill -STOP "$pid"
until_true is T
"$FLAME" off -q -o s.folded -p "$pid" 2>err </dev/null &
flame=$!
until_traced "$pid"
kill -CONT "$pid"
until_attached "$pid"
kill -STOP "$pid"
until_true is t
kill -INT $flame
wait $flame
ok 'a stop while it is traced outlasts that' comes_true is T
kill -CONT "$pid"
stop
is_int $? 0 'and it ends well'

done_testing
