#!/usr/bin/env bash
# Known sleeps on every kind of object: as long as the sleeper's own clock says, and
# ended by whom the program says.
. "${0%/*}/lib.sh"
. "${0%/*}/off.sh"

compile_victim sleeps -O1 -fno-optimize-sibling-calls -pthread -lrt
compile_victim convoy -O1 -fno-optimize-sibling-calls -pthread

# measure KIND: a run; $truth by the sleeper's clock and $mine by ours, us; the off view in
# off.folded.
measure() {
    off --min-block 0 ./sleeps "$1" 5 40
    truth=$(awk -v k="$1" '$1 == k { printf "%.0f", $2 / 1000 }' out)
    truth=${truth:-0}
    oview off >off.folded
    mine=$(sum '[;]sleeper[; ]' <off.folded)
}

while read -r kind ender; do
    # On a busy machine the sleeper waits for a CPU before its call and after it, and only
    # its own clock sees that. Not every time; what is wrong would be wrong always.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        measure "$kind"
        is_near "$mine" "$truth" && break
    done
    is_int "$status" 0 "$kind: the command's own status"
    near "$mine" "$truth" "$kind: time off-CPU by the program's clock"
    oview offwake >offwake.folded
    all=$(sum '[;]sleeper[; ]' <offwake.folded)
    case $ender in
    thread) want=';sleeper;.*;--;.*waker_\[w\];wakes_\[w\]' ;;
    time) want=';sleeper;.*;--;\[timer\]' ;;
    child) want=';sleeper;.*;--;.*child_ends_\[w\]' ;;
    join) want=';sleeper;.*;--;' ;;
    esac
    woken=$(sum "$want" <offwake.folded)
    if [ "$all" -gt 0 ] && [ $((woken * 100)) -ge $((all * 98)) ]; then
        test_ok "$kind: ended by its waker"
    else
        test_fail "$kind: ended by its waker" "$woken of $all us
$(grep -F ';sleeper' offwake.folded)"
    fi
done < <(./sleeps list)

# The chain of a convoy, and its width.
line=';back;.*g_second.*;--;.*;middle_\[w\].*middle.*;--;.*;front_\[w\].*front'
for _ in 1 2 3 4 5 6 7 8 9 10; do
    off --min-block 0 ./convoy 60
    truth=$(awk '{ printf "%.0f", $1 / 1000 }' out)
    oview chain >chain.folded
    is_near "$(sum "$line" <chain.folded)" "$truth" && break
done
near "$(sum "$line" <chain.folded)" "$truth" 'a convoy of three locks: one chain, as wide as its sleep'
grep -E ';back;' chain.folded | grep -qE "$line" || diag "$(cat chain.folded)"

done_testing
