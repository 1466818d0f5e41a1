#!/bin/bash
# A wait for two holders of a lock, one after another, is split between them, as the program's own
# clock measures.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim monitors -pthread

# locks KIND: a run with its summary in err; its folded chain in chain.folded.
locks() {
    rm -f t.flame
    run timeout 60 "$FLAME" off -o t.flame -- ./monitors "$1" 100
    oview chain >chain.folded
}

# held N: how long others waited while wN held it, us, by the program; by the chains, those that wN's sleep
# ends; in $mine and $truth.
held() {
    truth=$(w=w$1 awk '$1 == ENVIRON["w"] { printf "%.0f", $2 / 1000 }' out)
    mine=$(grep '^w[12];.*;sell;[^-]*;futex [^;]*;--;' chain.folded | sum ";w$1_\\[w\\] [0-9]+\$")
}

# both_near KIND: in one run. On a busy machine a waiter may own the lock before it runs; not in every run.
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
    near "$mine" "$truth" "$kind: waits for w0's lock are as long as by the program"
    held 1
    near "$mine" "$truth" "$kind: waits for w1's lock are as long as by the program"
done
again 10 both_near mutex
oview wakeup >wakeup.folded
held 0
near "$(sum '^w0;.*;sell;mutex_exit;.*;w[12] ' <wakeup.folded)" "$mine" '--view wakeup has the waits that w0 ended'
held 1
near "$(sum '^w1;.*;sell;mutex_exit;.*;w2 ' <wakeup.folded)" "$mine" '--view wakeup has the waits that w1 ended'

done_testing
