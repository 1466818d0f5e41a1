#!/usr/bin/env bash
# Known sleeps on every kind of object: as long as the sleeper's own clock says, and
# ended by whom the program says.
. "${0%/*}/lib.sh"
. "${0%/*}/off.sh"

compile_victim sleeps -O1 -fno-optimize-sibling-calls -pthread -lrt
compile_victim convoy -O1 -fno-optimize-sibling-calls -pthread

rounds=5
while read -r kind ender; do
    off --min-block 0 ./sleeps "$kind" $rounds 40
    is_int "$status" 0 "$kind: the command's own status"
    truth=$(awk -v k="$kind" '$1 == k { printf "%.0f", $2 / 1000 }' out)
    oview off >off.folded
    near "$(sum '[;]sleeper[; ]' <off.folded)" "${truth:-0}" "$kind: time off-CPU by the program's clock"
    oview offwake >offwake.folded
    all=$(sum '[;]sleeper[; ]' <offwake.folded)
    case $ender in
    thread) want=';sleeper;.*;--;.*waker_\[w\];wakes_\[w\]' ;;
    time) want=';sleeper;.*;--;\[timer\]' ;;
    child) want=';sleeper;.*;--;.*child_ends_\[w\]' ;;
    join) want=';sleeper;.*;--;' ;;
    esac
    mine=$(sum "$want" <offwake.folded)
    if [ "$all" -gt 0 ] && [ $((mine * 100)) -ge $((all * 98)) ]; then
        test_ok "$kind: ended by its waker"
    else
        test_fail "$kind: ended by its waker" "$mine of $all us
$(grep -F ';sleeper' offwake.folded)"
    fi
done < <(./sleeps list)

# The chain of a convoy, and its width.
off --min-block 0 ./convoy 60
truth=$(awk '{ printf "%.0f", $1 / 1000 }' out)
oview chain >chain.folded
line=';back;.*g_second.*;--;.*;middle_\[w\].*middle.*;--;.*;front_\[w\].*front'
near "$(sum "$line" <chain.folded)" "$truth" 'a convoy of three locks: one chain, as wide as its sleep'
grep -E ';back;' chain.folded | grep -qE "$line" || diag "$(cat chain.folded)"

done_testing
