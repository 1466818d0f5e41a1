#!/bin/bash
# Locks that no futex is: the summary names them by the functions that wait, and who held them.
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
    is_int "$status" 0 "$kind: the command's own status"
    file_has err "^flame: lock most waited for: $lock in sell < serve, [^:]* until w[01] in sell < serve gave it back" \
        "$kind: the lock, by its functions, and who had it"
    file_has err '^flame: behind that: nanosleep of w[01] in sell < serve, ' "$kind: and what that one did"
    # Longest of all waits main, and for no lock.
    file_lacks err '^flame: lock most waited for: [^:]*main' "$kind: other waits are none"
done <<'END2'
java Java monitor
python Python lock
END2

# Two holders, one after another: who waits for both is split between them, as the program's own
# clock says, and no time is lost or counted twice.

# held N: what others waited while wN held it, us, by the program; by the chains, those that wN's sleep
# ends; in $mine and $truth.
held() {
    truth=$(w=w$1 awk '$1 == ENVIRON["w"] { printf "%.0f", $2 / 1000 }' out)
    mine=$(grep '^w[12];.*;sell;[^-]*;futex [^;]*;--;' chain.folded | sum ";w$1_\\[w\\] [0-9]+\$")
}

# both_near KIND: in one run. On a busy machine who waits has it before it runs; not in every run.
both_near() {
    locks "$1"
    held 0
    is_near "$mine" "$truth" || return 1
    held 1
    is_near "$mine" "$truth"
}

for kind in mutex java python plain; do
    again 10 both_near "$kind"
    held 0
    near "$mine" "$truth" "$kind: what w0 held others up is its own"
    held 1
    near "$mine" "$truth" "$kind: and what w1 did"
    # Each stack is rounded to a microsecond.
    lost=$(($(sum '^w2;' <chain.folded) - $(oview off | sum '^w2;')))
    is_int $((lost >= -2 && lost <= 2)) 1 "$kind: the parts are the whole ($lost us)"
done
again 10 both_near mutex
oview wakeup >wakeup.folded
held 0
near "$(sum '^w0;.*;sell;mutex_exit;.*;w[12] ' <wakeup.folded)" "$mine" 'so say wakeups'
held 1
near "$(sum '^w1;.*;sell;mutex_exit;.*;w2 ' <wakeup.folded)" "$mine" 'for both'

locks plain
file_lacks err '^flame: lock most' 'no name says that it is a lock'
file_has err '^flame: futex \[stack\] in plain_enter < sell < serve, .*: may be a lock that lies elsewhere; no function.s name says so, and who holds it is not known' \
    'which is said'

done_testing
