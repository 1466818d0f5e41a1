#!/bin/bash
# The critical path of a time range, of another thread, and through
# processes; and invalid requests.
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
        test_ok "critical path of one phase, $OFF_HOW"
    else
        test_fail "critical path of one phase, $OFF_HOW" "$(cat out path err)"
    fi
done

# Another thread's end, by number and by name: its waits are on its path, later ones are not.
off ./waypoints pipeline
oview critical --ends-in first >path
file_has path ';first_stage;.*nanosleep [0-9]+$' '--ends-in with a name: the path has that thread'
file_lacks path '_stage;.*(second|third)_stage|second_stage|third_stage' \
    '--ends-in with a name: the path has no other thread'
tid=$("$FLAME" dump -s thread t.flame | sed -nE 's/.* tid=([0-9]+) .* comm=first .*/\1/p')
run_expect_status 0 "fold --ends-in with a thread's id succeeds" \
    "$FLAME" fold --no-header --view critical --ends-in "$tid" t.flame
is_str "$(cat out)" "$(cat path)" '--ends-in gives the same path by id and by name'
run_expect_status 0 'dump -s life succeeds' "$FLAME" dump -s life t.flame
is_int "$(grep -c '^life thread=[1-9][0-9]* parent=[0-9]* begin_ns=[0-9]* end_ns=' out)" 4 \
    'dump -s life has one line a thread'

# Through processes: the shell waits for its child, which waits for its own. (The exit keeps a shell
# from running its last command in its own place.)
processes() {
    off sh -c 'sh -c "sleep 0.15; exit 0"; exit 0'
    "$FLAME" fold --view critical t.flame >path && grep -qE '^sleep;.*nanosleep [0-9]+$' path &&
        ! grep -v '^#' path | grep -q 'wait4' && grep -q 'name="wait4 child"' path
}
if again 8 processes; then
    test_ok 'the critical path leads from parents to children and back'
else
    test_fail 'the critical path leads from parents to children and back' "$(cat path err)"
fi

# Pictures take the same options.
run_expect_status 0 'render --view critical succeeds' "$FLAME" render --view critical -o p.svg t.flame
file_has p.svg 'Critical path' 'the picture of --view critical has its title'
run_expect_status 0 'top --view critical --to succeeds' "$FLAME" top --view critical --to 60s t.flame

refuses() {
    local words=$1
    shift
    run_expect_status 2 "flame $1 is refused: $words" "$FLAME" "$@"
    file_has err "$words" "flame $1 prints why: $words"
    is_str "$(cat out)" '' "flame $1 prints no result: $words"
}
refuses 'no thread has that number or name' fold --view critical --ends-in nobody t.flame
refuses 'nothing was recorded then' fold --view critical --from 1000s t.flame
refuses '--from is not before --to' fold --view critical --from 2s --to 1s t.flame
refuses '--at is a moment' fold --view critical --at 1s t.flame
refuses '--ends-in is of the critical path' fold --view off --ends-in sh t.flame
refuses 'diff: of waits neither' diff --view critical --from 1s t.flame t.flame

done_testing
