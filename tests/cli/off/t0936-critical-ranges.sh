#!/bin/bash
# The critical path of a part of the time that a program tells of, of another thread, and through
# processes; and what is asked for wrongly.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim waypoints -pthread

# A range from one moment of CLOCK_MONOTONIC to another, in nanoseconds, as of the recording's
# beginning, in seconds.
since() {
    local zero
    zero=$("$FLAME" dump -s header t.flame | sed -nE 's/.* start_monotonic_ns=([0-9]+).*/\1/p;q')
    printf '%d.%09d' $((($1 - zero) / 1000000000)) $((($1 - zero) % 1000000000))
}

second_phase() {
    local begin end
    off ./waypoints phases
    read -r begin end < <(sed -n 's/^phase //p' out)
    [ -n "$end" ] || return 1
    "$FLAME" fold --view critical --from "$(since "$begin")" --to "$(since "$end")" t.flame >path &&
        "$FLAME" fold --view critical t.flame >whole && grep -q 'slow_work;.*nanosleep' whole &&
        grep -q 'quick_work;.*nanosleep' whole && grep -q 'quick_work;.*nanosleep' path &&
        ! grep -q slow_work path && grep -q "path length=$((end - begin)) " path
}

for OFF_HOW in --in-process --no-in-process; do
    if again 8 second_phase; then
        test_ok "a phase alone, $OFF_HOW"
    else
        test_fail "a phase alone, $OFF_HOW" "$(cat out path err)"
    fi
done

# Another thread's end, by number and by name: what it waited for is on its path, what came after not.
off ./waypoints pipeline
oview critical --ends-in first >path
file_has path ';first_stage;.*nanosleep [0-9]+$' 'the path of a thread'
file_lacks path '_stage;.*(second|third)_stage|second_stage|third_stage' 'has nothing of others'
tid=$("$FLAME" dump -s thread t.flame | sed -nE 's/.* tid=([0-9]+) .* comm=first .*/\1/p')
run_expect_status 0 'by number' "$FLAME" fold --no-header --view critical --ends-in "$tid" t.flame
is_str "$(cat out)" "$(cat path)" 'is the same'
run_expect_status 0 'lives are dumped' "$FLAME" dump -s life t.flame
is_int "$(grep -c '^life thread=[1-9][0-9]* parent=[0-9]* begin_ns=[0-9]* end_ns=' out)" 4 'one a thread'

# Through processes: the shell waits for its child, which waits for its own. (The exit keeps a shell
# from running its last command in its own place.)
processes() {
    off sh -c 'sh -c "sleep 0.15; exit 0"; exit 0'
    "$FLAME" fold --view critical t.flame >path && grep -qE '^sleep;.*nanosleep [0-9]+$' path &&
        ! grep -v '^#' path | grep -q 'wait4' && grep -q 'name="wait4 child"' path
}
if again 8 processes; then
    test_ok 'from parents to children and back'
else
    test_fail 'from parents to children and back' "$(cat path err)"
fi

# Pictures take the same options.
run_expect_status 0 'a picture' "$FLAME" render --view critical -o p.svg t.flame
file_has p.svg 'Critical path' 'has its title'
run_expect_status 0 'of a range' "$FLAME" top --view critical --to 60s t.flame

refuses() {
    local words=$1
    shift
    run_expect_status 2 "refused: $words" "$FLAME" "$@"
    file_has err "$words" 'with a line'
    is_str "$(cat out)" '' 'and nothing else'
}
refuses 'no thread has that number or name' fold --view critical --ends-in nobody t.flame
refuses 'nothing was recorded then' fold --view critical --from 1000s t.flame
refuses '--from is not before --to' fold --view critical --from 2s --to 1s t.flame
refuses '--at is a moment' fold --view critical --at 1s t.flame
refuses '--ends-in is of the critical path' fold --view off --ends-in sh t.flame
refuses 'diff: of the critical path neither' diff --view critical --from 1s t.flame t.flame

done_testing
