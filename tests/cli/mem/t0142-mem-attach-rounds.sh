#!/usr/bin/env bash
# Repeated attach and detach does not disturb programs: busy threads, the
# loader at work all the time, sleeps of many kinds. ROUNDS rounds each, by default 4, and 12 with FULL=1;
# tests/programs/attach_mem.sh has more of both.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
rounds=${ROUNDS:-$((FLAME_TEST_FULL ? 12 : 4))}

compile_victim restless -pthread
for i in 1 2 3; do
    compile_victim plugin -shared -fPIC -DNAME=name$i -DSIZE=100
    mv plugin lib$i.so
done

# has_threads PID: all threads are there once the first one reads (0, 63).
has_threads() {
    [ "$(find "/proc/$1/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -gt 1 ] && is_in_call "$1" 0 63
}

# rounds_of WHAT [ARGUMENT...]
rounds_of() {
    local what=$1 good=0 traces=0
    rm -f stdin
    mkfifo stdin
    ./restless "$@" <stdin >"$what.out" 2>&1 &
    victim=$!
    exec 7>stdin
    until_true has_threads "$victim"
    for _ in $(seq "$rounds"); do
        rm -f t.flame
        if timeout 100 "$FLAME" mem -q -d 0.05 -o t.flame -p "$victim" </dev/null 2>>"$what.err"; then
            good=$((good + 1))
            [ -s t.flame ] && traces=$((traces + 1))
        elif grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' "$what.err"; then
            exec 7>&-
            skip_all ptrace "$(head -1 "$what.err")"
        fi
        kill -0 "$victim" 2>/dev/null || break
    done
    is_str "$good $traces" "$rounds $rounds" "restless $what: flame mem -p attaches and detaches $rounds times"
    [ -s "$what.err" ] && diag "$(sort "$what.err" | uniq -c | head -5)"
    exec 7>&-
    status=0
    wait "$victim" || status=$?
    is_str "$status $(cat "$what.out")" "0 $what errors 0" "restless $what ends as unrecorded"
}

rounds_of busy
ok 'the last attach to restless busy has a trace with bytes' test "$(total alloc)" -gt 0
rounds_of asleep
rounds_of loader ./lib1.so ./lib2.so ./lib3.so libm.so.6

# A process that has just begun executes programs: one that is known may be gone at any moment.
cat >chain <<'END'
n=$1
[ "$n" -gt 0 ] && exec sh chain $((n - 1))
exec sleep 100
END
good=0
for links in 0 1 2 3 5 8 13 21 34 55; do
    sh chain $links &
    victim=$!
    sleep 0.00$((links % 4))
    timeout 100 "$FLAME" mem -q -d 0.02 -o t.flame -p "$victim" </dev/null 2>>chain.err && good=$((good + 1))
    kill "$victim"
    status=0
    wait "$victim" 2>/dev/null || status=$?
    [ $status -eq 143 ] || good="$good, ended with status $status,"
done
is_str "$good" 10 'flame mem -p records a process that has just begun, and executes programs'
[ -s chain.err ] && diag "$(head -3 chain.err)"
done_testing
