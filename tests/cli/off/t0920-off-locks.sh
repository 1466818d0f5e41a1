#!/bin/bash
# Locks without a futex symbol: the summary names the functions that wait, and the lock holder.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim monitors -pthread

# locks KIND: a run with its summary in err; its folded chain in chain.folded.
locks() {
    rm -f t.flame
    run timeout 60 "$FLAME" off -o t.flame -- ./monitors "$1" 100
    oview chain >chain.folded
}

while read -r kind lock; do
    locks "$kind"
    is_int "$status" 0 "$kind: flame off ends with the command's status"
    file_has err "^flame: lock most waited for: $lock in sell < serve, [^:]* until w[01] in sell < serve gave it back" \
        "$kind: the summary names the lock by its functions, and its holder"
    file_has err '^flame: behind that: nanosleep of w[01] in sell < serve, ' \
        "$kind: the summary names the holder's own wait"
    # The longest wait is that of main, and it is for no lock.
    file_lacks err '^flame: lock most waited for: [^:]*main' \
        "$kind: the summary counts only waits for locks as such"
done <<'END2'
java Java monitor
python Python lock
END2

# Two holders, one after another: a wait for both is split between them, and no time is lost or
# counted twice. How long each held it is in tests/cli/timed/t0904-lock-holders.sh.
for kind in mutex java python plain; do
    locks "$kind"
    oview off >off.folded
    lost=$(($(sum '^w2;' <chain.folded) - $(sum '^w2;' <off.folded)))
    # Each stack is rounded to a microsecond.
    most=$((($(cat chain.folded off.folded | grep -c '^w2;') + 1) / 2))
    is_int $((lost >= -most && lost <= most)) 1 \
        "$kind: the parts of a wait for two holders sum to the whole ($lost us, at most $most by rounding)"
done

locks plain
file_lacks err '^flame: lock most' 'a futex whose functions do not name a lock is not called a lock'
file_has err '^flame: futex \[stack\] in plain_enter < sell < serve, .*: may be a lock that lies elsewhere; no function.s name says so, and who holds it is not known' \
    'the summary says that such a futex may be a lock'

done_testing
