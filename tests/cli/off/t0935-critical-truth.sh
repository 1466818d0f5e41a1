#!/bin/bash
# The critical path of programs that have a known one: which functions are on it and which are not,
# how long they are by the program's own clock, and the possible gain without the lock; with calls
# logged in-process and by stops.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim waypoints -pthread

# on_path FUNCTION: time of its sleeps on the path, us
on_path() { grep -E ";$1;.*nanosleep [0-9]+\$" path | sum .; }

# told NAME: the time that the program prints, us
told() { name=$1 awk '$1 == ENVIRON["name"] { print $2 }' out; }

# fits FUNCTION ASKED_US: it is on the path, at most for its duration and at least for its sleep. (A wait
# for a processor at the end of a sleep is known only as a share, and is no sleep.)
fits() {
    local got
    got=$(on_path "$1")
    [ "$got" -gt 0 ] && [ "$got" -le "$(($(told "$1") + 1))" ] && [ "$got" -ge $(($2 * 9 / 10)) ]
}

# of KEY: a field of the path; gain NAME: the possible gain of an object, us
of() { sed -nE "s/^# critical: path(.*)? $1=([0-9]+).*/\\2/p" path; }
gain() { name="name=\"$1\"" awk 'index($0, "# critical: free ") == 1 && index($0, ENVIRON["name"]) {
    sub(/.* gain=/, ""); printf "%.0f\n", $1 / 1000 }' path; }

adds_up() {
    local lines all
    all=$(of length)
    all=$((${all:-0} / 1000))
    lines=$(grep -v '^#' path | sum .)
    # Each line is rounded once.
    [ $((lines > all ? lines - all : all - lines)) -le 20 ]
}

pipeline() {
    fits first_stage 120000 && fits second_stage 80000 && fits third_stage 40000 && adds_up &&
        ! grep -q ';read pipe' path && [ "$(gain 'read pipe:[*]')" -ge 180000 ]
}
lock() {
    fits hold_it 150000 && fits use_it 60000 && adds_up && ! grep -v '^#' path | grep -q 'way_lock' &&
        [ "$(gain 'futex way_lock')" -le "$(($(told lock) + 1))" ] &&
        [ "$(gain 'futex way_lock')" -ge 120000 ]
}
joins() {
    fits slow_work 160000 && adds_up && ! grep -q quick_work path && ! grep -q ';pthread_join' path
}

holds() {
    case $1 in
    pipeline) pipeline ;;
    lock) lock ;;
    *) joins ;;
    esac
}

# A machine that stalls at the wrong moment gives another path: then the test tries again.
path_is_right() {
    off ./waypoints "$1"
    "$FLAME" fold --view critical t.flame >path 2>err && holds "$1"
}
for OFF_HOW in --in-process --no-in-process; do
    for what in pipeline lock joins; do
        if again 8 path_is_right "$what"; then
            test_ok "critical path of $what, $OFF_HOW"
        else
            test_fail "critical path of $what, $OFF_HOW" "$(cat out path err)"
        fi
    done
done

# The summary reports the path.
summary='^flame: critical path: .* to the end of waypoints, through 3 threads: waited .*, ran .*; first '
has_words() {
    run "$FLAME" off -o s.flame -- ./waypoints lock
    [ "$status" -eq 0 ] && grep -qE "$summary" err
}
again 8 has_words
is_int "$status" 0 'flame off of a program with a lock succeeds'
file_has err "$summary" 'the summary has the critical path'
file_has err '^flame: the critical path would be shorter by at most this if no thread had to wait for: .*futex way_lock -[0-9.]+ ms' \
    'the summary has the bound on the gain'
run_expect_status 0 'flame off --lanes off succeeds' "$FLAME" off --lanes off -o n.flame -- ./waypoints lock
file_lacks err 'critical path' 'flame off --lanes off has no critical path in its summary'
run_expect_status 2 'fold --view critical of a trace without lanes ends with status 2' \
    "$FLAME" fold --view critical n.flame
file_has err 'n.flame: recorded without when threads waited' \
    'fold --view critical of a trace without lanes says why'

done_testing
