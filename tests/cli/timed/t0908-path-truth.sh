#!/bin/bash
# flame path of a program whose critical path is known: its length, its parts, and what it says of a run
# without the lock and of one that holds it for half the time, beside real runs of both.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim relay -pthread

# us TEXT: a time as flame prints it, in microseconds
us() { awk '{ unit["ns"] = 0.001; unit["ms"] = 1000; unit["s"] = 1000000; unit["\302\265s"] = 1
    printf "%.0f\n", $1 * unit[$2] }' <<<"$1"; }

# told NAME FILE: the time that the program printed there
told() { name=$1 awk '$1 == ENVIRON["name"] { print $2 }' "$2"; }

# bound RULE: of the rule's line; on_path THREAD
bound() { us "$(grep -F "  $1: at most -" words | sed -E 's/.*: at most -([0-9.]+ [^ ]+) .*/\1/')"; }
on_path() { us "$(grep -E " $1 \([0-9]+\)\$" words | awk '{ print $1, $2 }')"; }

# within PERCENT GOT WANT
within() { [ "$2" -gt 0 ] && [ $((($2 > $3 ? $2 - $3 : $3 - $2) * 100)) -le $(($3 * $1)) ]; }

length_and_parts() {
    local length
    length=$(us "$(sed -nE '1s/^Critical path: ([0-9.]+ [^ ]+) to the end of relay, through 4 threads$/\1/p' words)")
    within 5 "$length" "$(told all out)" && within 5 "$(on_path hold_it)" "$(told hold_it out)" &&
        within 5 "$(on_path use_it)" "$(told use_it out)" && within 5 "$(on_path pass_on)" "$(told pass_on out)" &&
        ! grep -q '%  stand_aside ' words
}

# The lock's bound is not below what is gained without it, and that of the longest sleep is what is gained.
bounds() {
    local plain lock half
    ./relay >plain && ./relay free >unlocked && ./relay half >halved || return 1
    plain=$(told all plain)
    lock=$((plain - $(told all unlocked)))
    half=$((plain - $(told all halved)))
    echo "gained $lock us without the lock, $half us with half the sleep" >gains
    [ $((lock * 100)) -le $(($(bound relay_lock=0) * 105)) ] &&
        [ $((half * 100)) -le $(($(bound '^hold_it$=0.5') * 105)) ] && within 10 "$(bound '^hold_it$=0.5')" "$half"
}

path_is_right() {
    off ./relay
    "$FLAME" path --what-if relay_lock=0 --what-if '^hold_it$=0.5' t.flame >words 2>err &&
        length_and_parts && bounds
}
for OFF_HOW in --in-process --no-in-process; do
    if again 8 path_is_right; then
        test_ok "flame path of a known path, $OFF_HOW"
        sed 's/^/# /' gains
        sed -n 's/^  .*: at most/# bound of &/p' words
    else
        test_fail "flame path of a known path, $OFF_HOW" "$(cat out words err gains)"
    fi
done

done_testing
