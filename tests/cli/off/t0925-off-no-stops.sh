#!/bin/bash
# flame off -p PID --no-stops: nothing stops, nothing is noticed; also for a plain user, and in a process
# that has a tracer already. How long sleeps are is in tests/cli/timed/t0906-sleeps-looked-at.sh.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

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

# look [OPTION...]: runs --no-stops of $pid in the background, until `wait $flame`; the trace is t.flame.
look() {
    rm -f t.flame
    "$FLAME" off --no-stops -o "$SCRATCH/t.flame" "$@" -p "$pid" 2>err </dev/null 3>&- &
    flame=$!
    until_looked_at "$pid" "$flame"
}

# ---- the process does not notice ----

start ./idlers 100
look -q
not_ok 'a process under --no-stops has no tracer' is_traced "$pid"
"$FLAME" off -q -o other.folded -d 0.3 -p "$pid" 2>other.err </dev/null
is_str "$? $(cat other.err)" '0 ' 'a second flame off can attach to a process under --no-stops'
kill -INT "$flame"
wait "$flame"
is_str "$? $(cat err)" '0 ' 'SIGINT ends flame off --no-stops with status 0'
ok 'flame off --no-stops has the waits of all threads' test "$(oview off --tid | grep -c ';idle')" -ge 100
"$FLAME" off -q -o other.folded -p "$pid" 2>other.err </dev/null 3>&- &
other=$!
until_traced "$pid"
look -q -d 0.5
wait "$flame"
is_str "$? $(cat err)" '0 ' 'flame off --no-stops works on a process that has a tracer'
file_has <(oview off) ';idle' 'flame off --no-stops of a process that has a tracer has its stacks'
kill -INT "$other"
wait "$other"
kill -STOP "$pid"
look -q -d 0.3
wait "$flame"
is_str "$?" 0 'flame off --no-stops of a stopped process succeeds'
is_str "$(awk '/^State/ { print $2 }' "/proc/$pid/status")" T 'a stopped process stays stopped under --no-stops'
is_str "$("$FLAME" dump -s row t.flame | grep -c ' kind=stopped ')" 101 \
    'each thread of a stopped process has a row of kind stopped'
kill -CONT "$pid"
look -q
kill -9 "$pid"
wait "$flame"
is_str "$?" 0 'flame off --no-stops ends when the process is killed'
exec 3>&-
wait "$pid" 2>/dev/null

# ---- permissions ----

if [ "$(id -u)" -eq 0 ]; then
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
    mkdir -m 777 theirs
    start "${nobody[@]}" ./idlers 3
    rm -f t.flame
    run "${nobody[@]}" "$FLAME" off --no-stops -q -d 0.3 -o theirs/t.folded -p "$pid"
    is_str "$status" 0 "flame off --no-stops of a plain user's own process succeeds"
    file_has theirs/t.folded ';idle' "flame off --no-stops of a plain user's own process has its stacks"
    stop
    start ./idlers 3
    run "${nobody[@]}" "$FLAME" off --no-stops -q -d 0.3 -o theirs/u.folded -p "$pid"
    is_str "$status" 2 "flame off --no-stops of another user's process ends with status 2"
    like "$(cat err)" "^flame: process $pid belongs to user 0: trace it as that user, as root, or with CAP_SYS_PTRACE\$" \
        "flame off --no-stops of another user's process: one line says why"
    not_ok "flame off --no-stops of another user's process writes no file" test -e theirs/u.folded
    stop
fi

# ---- wrong use ----

refuses() { # LINE ARGUMENT...
    local line=$1
    shift
    run "$FLAME" off --no-stops -o no.svg "$@"
    is_str "$status $(cat err)" "2 flame: $line" "flame off --no-stops $* is refused with a reason"
    not_ok "flame off --no-stops $* writes no file" test -e no.svg
}
refuses 'off: --no-stops is for processes that run: it needs -p, and no command' -- true
refuses 'off: --in-process is for commands, without -p' --in-process -p $$
refuses 'off: --no-stops cannot look at threads that run: leave out --hz and views of time on a CPU' --hz 9 -p $$
refuses 'off: --no-stops cannot look at threads that run: leave out --hz and views of time on a CPU' \
    --view oncpu -p $$
refuses 'off: --no-stops looks at sleeps of 500 us and longer; --min-block is less' --min-block 10us -p $$
refuses 'process 2147483000: there is no such process' -p 2147483000

done_testing
