#!/bin/bash
# A launched command behaves as without flame off: signals, terminal, job control, descriptors.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/signals.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim keeper
compile_victim acting "$ROOT/tests/unit/acts.c" -pthread

off() {
    "$FLAME" off "$@"
}

ls /proc/self/fd >want
for mode in '' --no-in-process --no-filter '--no-follow' '--hz 199'; do
    # shellcheck disable=SC2086 # one word or none
    run off $mode -q -o x.folded -- ls /proc/self/fd
    is_str "$(tr '\n' ' ' <out)" "$(tr '\n' ' ' <want)" \
        "flame off ${mode:-with the filter} adds no descriptor to the command"
    # shellcheck disable=SC2086
    run_expect_status 42 "flame off ${mode:-with the filter} ends with the command's status 42" \
        off $mode -q -o x.folded -- \
        sh -c '(exit 3); exit 42'
    for life in spawns signals stops thousand; do
        # shellcheck disable=SC2086
        run_expect_status 0 "flame off ${mode:-with the filter}: acting $life behaves as untraced" \
            off $mode -q -o x.folded -- ./acting "$life"
    done
    # shellcheck disable=SC2086
    run_expect_status 7 "flame off ${mode:-with the filter}: exec by a thread works" \
        off $mode -q -o x.folded -- ./acting exec
done
for sig in 6 9 11 15 2; do
    rm -f x.folded
    run off -q -o x.folded -- sh -c 'sleep 0.02; kill "-$0" $$' "$sig"
    is_int "$status" $((128 + sig)) "signal $sig that kills the command gives the status of flame off"
    ok "signal $sig that kills the command leaves a result" test -s x.folded
done

# Signals sent to flame reach the command. Those typed at a terminal reach both: interrupt
# and quit are the command's; suspend stops both, and both go on.
signals_passed_on "$FLAME" off -q -o x.folded --
group_outlived "$FLAME" off -q -o x.folded --
typed_keys keep:1 '^# flame: view=off ' "$FLAME" off -o x.folded --

# Job control: a shell suspends the job and continues it.
cat >jobs.py <<'END'
import os, pty, signal, sys, time

master, tty = pty.openpty()
told, tell = os.pipe()
shell = os.fork()
if shell == 0:
    os.setsid()
    import fcntl, termios
    fcntl.ioctl(tty, termios.TIOCSCTTY, 0)
    job = os.fork()
    if job == 0:
        os.setpgid(0, 0)
        signal.signal(signal.SIGTTOU, signal.SIG_IGN)
        os.tcsetpgrp(tty, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        for fd in 0, 1, 2:
            os.dup2(tty, fd)
        os.execv(sys.argv[1], sys.argv[1:])
    out = []
    pid, status = os.waitpid(job, os.WUNTRACED)
    out.append("suspended" if os.WIFSTOPPED(status) else f"not suspended {status}")
    # flame is stopped, and so is all that it traces before long.
    def states():
        words = [os.popen(f"ps -o stat= -g {job}").read().split()]
        return [w[0] for w in words[0]]
    while not all(s in "Tt" for s in states()):
        time.sleep(0.01)
    os.killpg(job, signal.SIGCONT)
    os.write(tell, b".")
    pid, status = os.waitpid(job, 0)
    out.append(str(os.waitstatus_to_exitcode(status)))
    open("jobs.out", "w").write(" ".join(out))
    os._exit(0)
os.close(tty)
seen = b""
while b"ready" not in seen:
    seen += os.read(master, 4096)
os.write(master, b"\032")
os.read(told, 1)
os.write(master, b"\004")
try:
    while os.read(master, 4096):
        pass
except OSError:
    pass
os.waitpid(shell, 0)
END
run timeout 20 python3 jobs.py "$FLAME" off -q -o jobs.folded -- ./keeper wait
is_str "$(cat jobs.out)" 'suspended 0' 'Ctrl-Z suspends flame and the command, and both continue'
ok 'a command suspended by Ctrl-Z has a result' test -s jobs.folded

run sh -c 'trap "" HUP INT; exec "$@"' sh "$FLAME" off -q -o x.folded -- \
    sh -c 'kill -HUP $$; kill -INT $$; echo survived'
is_str "$(cat out)" survived "signals that flame's caller ignores stay ignored in the command"
run off -q -o x.folded -- sh -c 'kill -INT $$; echo survived'
is_int "$status" 130 'SIGINT is not ignored in the command'
off -q -o x.folded -- sh -c 'grep ^SigIgn /proc/self/status' >ignored
is_str "$(cat ignored)" "$(grep ^SigIgn /proc/self/status)" \
    'the command ignores no signal that its caller does not'

# flame does not wait for processes that the command leaves behind, and their calls still work.
run off -q -o x.folded -- sh -c \
    '(until [ -e go ]; do sleep 0.1; done; echo late >late) >/dev/null 2>&1 & echo gone'
is_str "$(cat out)" gone 'flame off ends with the command, not with a process left behind'
ok 'flame off does not wait for a process left behind' test ! -e late
: >go
until_true test -s late
is_str "$(cat late)" late 'a process left behind lives on after flame off'

# A killed tracer takes the command with it, and the status of flame off is not 0.
"$FLAME" off -q -o x.folded -- sleep 30 2>err </dev/null &
flame=$!
command_runs() {
    tracer=$(pgrep -P "$flame") && pgrep -P "$tracer" -x sleep >/dev/null
}
until_true command_runs
kill -KILL "$tracer"
wait $flame
is_int $? 137 'SIGKILL of the tracer of a command gives status 137'

# Threads in a killed tracer's recording have no ends: it has their last known times.
slept_often() {
    [ -e slept ] && [ "$(wc -l <slept)" -ge 20 ]
}
for how in --no-in-process --in-process; do
    rm -f slept
    "$FLAME" off $how -o killed.flame -- \
        sh -c 'while sleep 0.02; do echo >>slept; done' 2>err </dev/null &
    flame=$!
    until_true slept_often
    kill -KILL "$(pgrep -P $flame)"
    wait $flame
    file_has err ': traced for [1-9][0-9.]* (ms|s); ' "$how, killed tracer: the summary has the duration"
    file_has err ', ran at most [1-9][0-9.]* ' \
        "$how, killed tracer: the summary has an upper bound of the run time"
    file_has err 'the end of [0-9]+ threads? is not in the trace: the last' \
        "$how, killed tracer: the summary says that threads have no end"
done

# A time limit: the command runs on, untouched.
# (On a busy machine the command may not have come to its sleep by then.)
limits=(0.2 1 4)
limited() {
    limit=${limits[0]}
    limits=("${limits[@]:1}")
    run_expect_status 0 'flame off -d succeeds' off -q -o x.folded -d "$limit" -- \
        sh -c 'sleep 1; until [ -e "go$0" ]; do sleep 0.1; done; echo done >"limit$0"' "$limit"
    ok 'flame off -d does not end the command' test ! -e "limit$limit"
    : >"go$limit"
    grep -q '^sleep;.*nanosleep [0-9]\{6,\}$' x.folded
}
again 3 limited
until_true test -s "limit$limit"
is_str "$(cat "limit$limit")" "done" 'the command runs on after flame off -d'
file_has x.folded '^sleep;.*nanosleep [1-9][0-9]{5,}$' 'flame off -d records the sleep up to the limit'
is_str "$(ls tmp)" '' 'flame off leaves no recording in TMPDIR'
done_testing
