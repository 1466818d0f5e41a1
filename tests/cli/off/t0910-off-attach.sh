#!/bin/bash
# Attach and detach: no call ends early and nothing stays behind, in whatever way the tracer ends.
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
is_int "$failed" 0 "flame off attaches and detaches $rounds times without an error"
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
is_int $? 0 'patience runs to its end after many attaches'
file_has said '^write .*rounds=[1-9]' 'patience made writes between the attaches'
is_str "$(grep -v -e ' eintr=0 short=0 ' -e '^ready' said)" '' \
    'attaching makes no call return EINTR or a short count'
for wait in epoll epoll_timed epoll_long sigwait sigtimedwait semop semtimedop recv recv_timed \
    read_timed poll nanosleep eventfd; do
    file_has said "^$wait eintr=0" "patience made the call $wait, without EINTR"
    file_has a.folded ";wait_${wait}[_;].* [1-9][0-9]*\$" "the call $wait is in the picture"
done
# Nearly half a second each, although some of them slept at attach and at detach. The first
# sleep may have another stack than those that follow.
is_str "$(too_short)" '' 'sleeps that began before the trace count in full'

# ---- many threads ----

start ./idlers 1000
# (To attach to them all takes a busy machine a while, in which none is known to sleep.)
all_sleep() {
    run_expect_status 0 'flame off attaches to a thousand threads' "$FLAME" off -q -o a.folded -d 2 -p "$pid"
    slept=$(awk '/;idle;/ {n += $NF} END {print (n > 1000 * 1670000)}' a.folded)
    [ "$slept" = 1 ]
}
again 5 all_sleep
is_int "$slept" 1 'flame off sees each of a thousand threads sleep'
stop
is_int $? 0 'a process of a thousand threads ends well after detach'

# ---- ways to end ----

start ./idlers 3
for sig in INT TERM HUP; do
    "$FLAME" off -q -o "$sig.folded" -p "$pid" 2>err </dev/null &
    flame=$!
    until_attached "$pid"
    kill "-$sig" $flame
    wait $flame
    is_int $? 0 "SIG$sig ends an attached flame off with status 0"
    file_has "$sig.folded" ';idle;' "SIG$sig ends an attached flame off with a result"
    ok "SIG$sig to flame off leaves the process running, untraced" is free
done

"$FLAME" off -o killed.folded -p "$pid" 2>err </dev/null &
flame=$!
until_attached "$pid"
kill -9 "$(tracer_of "$pid")"
until_true is free
wait $flame
is_str "$(state_of "$pid")" S 'SIGKILL of the tracer leaves the process running'
file_has err 'flame: the tracer was ended by signal 9; the recording up to then is kept' \
    'SIGKILL of the tracer is reported'

"$FLAME" off -q -o orphan.folded -p "$pid" 2>err </dev/null &
flame=$!
until_traced "$pid"
disown $flame
kill -9 $flame
ok 'SIGKILL of flame makes its tracer detach' comes_true is free
stop
is_int $? 0 'the program ends well after its tracers were killed'

# ---- job control ----

start ./idlers 3
kill -STOP "$pid"
until_true is T
run_expect_status 0 'flame off attaches to a stopped process' "$FLAME" off -o s.folded -d 0.2 -p "$pid"
is_str "$(state_of "$pid")" T 'a stopped process stays stopped after detach'
file_lacks err 'the longest stop' 'the summary has no stop longer than the trace'
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
is_int "$status" 0 'flame off -p of a process that continues later ends with status 0'
is_int "$(grep -c '^thread .* wall_ns=[1-9]' dumped)" 4 \
    'a process that continues later has all its threads in the trace'
is_int "$(grep -c '^row .* kind=stopped ' dumped)" 4 \
    'a process that continues later has the time that its threads were stopped'
is_int "$(grep -c '^row .* kind=lock .* sleeps=[1-9]' dumped)" 3 \
    'a process that continues later has the waits of its threads'
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
ok 'SIGSTOP of a traced process outlasts the tracing' comes_true is T
kill -CONT "$pid"
stop
is_int $? 0 'a process stopped and continued under the tracer ends well'

done_testing
