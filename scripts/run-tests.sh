#!/bin/bash
# run-tests.sh PROVE-COMMAND... -- TEST...: runs tests under prove. Tests of tests/cli/timed
# compare with a clock: they run last, one at a time, with nothing beside them. One that fails
# there runs once more; if it passes then, the run passes, and a line names it. No other test
# is run twice.
#
# Where the browser tests cannot run, the others do, and the last line lists the tests that did not
# run, with the reason. Under CI=true that is a failure, and so it is when nothing is left to run.
#
# $TEST_TIMES, if it is set, is a file for what tests/testclock.c counts: the $SLOWEST (10) tests
# that took most of the processors are listed at the end. $TEST_TIMES.tries gets a line `TRIES 3 TEST`
# of each measurement that took three tries (`again` of tests/cli/lib.sh); they are listed, too.
#
# Test files that failed come last of all, with the checks that failed and what these printed: who sees
# only the end of a long output sees that.
set -euo pipefail

cd "${0%/*}/.."
prove=()
while [ "$1" != -- ]; do
    prove+=("$1")
    shift
done
shift

browser=0
others=()
for name; do
    case $name in
    *.mjs) browser=$((browser + 1)) ;;
    *) others+=("$name") ;;
    esac
done

unset TEST_TRIES
if [ -n "${TEST_TIMES-}" ]; then
    : >"$TEST_TIMES"
    export TEST_TRIES=$TEST_TIMES.tries
    : >"$TEST_TRIES"
fi

# run_timed TEST...: one at a time, and once more those that failed. A second run that skips anything is no
# pass, and so is a first one that did not come to all tests.
run_timed() {
    local state=$scratch/state failed=() status=0
    prove_and_keep -j1 --state=save --statefile="$state" "$@" || status=$?
    mapfile -t failed < <(prove --dry --state=failed --statefile="$state")
    if [ "$status" -ne 0 ] && [ "${#failed[@]}" -gt 0 ] && [ "$(grep -c '^    last_run_time:' "$state")" -eq $# ]; then
        echo "flame: once more, alone: ${failed[*]}"
        status=0
        prove_and_keep -j1 "${failed[@]}" || status=$?
        ! grep -qE '^Result: NOTESTS|skipped' "$printed" || status=1
        [ "$status" -ne 0 ] || again_alone=("${failed[@]}")
    fi
    return "$status"
}

# prove_and_keep ARGUMENT...: prove with these arguments, too; $printed has what this call printed, and
# $printed.err what it and the tests printed on standard error. Nobody waits for that: a process that outlives
# its test may hold it open.
prove_and_keep() {
    : >"$printed.err"
    "${prove[@]}" --failures "$@" </dev/null 2> >(exec tee "$printed.err" >&2) | tee "$printed"
}

# From what one call of prove printed: its report of the files that failed, then the failed checks and
# what they said. Both end after some lines.
keep_failures() {
    {
        awk '/^Files=/ { on = 0 } on && !/^-*$/; /^Test Summary Report/ { on = 1 }' "$printed" | head -n 40
        grep -hE '^(not ok|#)' "$printed" "$printed.err" | cut -c1-400 | head -n 80
    } >>"$failures" || true
}

print_slowest() {
    awk '{ s += $1 } END {
        printf "flame: %.0f s of CPU in %d test files; most of it, and seconds by the clock, in:\n", s, NR }' "$TEST_TIMES"
    sort -rn "$TEST_TIMES" | awk '{ printf "%8.2f %8.2f  %s\n", $1, $2, $3 }' | sed -n "1,${SLOWEST}p"
}

print_tries() {
    awk '{ n++; more += $2 - 1; row[n] = sprintf("%8d  %s", $2, $3) }
        END {
            printf "flame: %d measurements were repeated, %d times in all%s\n", n, more, n ? "; tries:" : ""
            for (i = 1; i <= n; i++) print row[i]
        }' "$TEST_TRIES"
}

# run TEST...: 0 if all passed, else 1.
run() {
    local name status=0 timed=() rest=() scratch printed failures
    again_alone=()
    for name; do
        case $name in
        tests/cli/timed/* | */tests/cli/timed/*) timed+=("$name") ;;
        *) rest+=("$name") ;;
        esac
    done
    scratch=$(mktemp -d) || return
    printed=$scratch/printed
    failures=$scratch/failures
    : >"$failures"
    if [ ${#rest[@]} -gt 0 ] && ! prove_and_keep "${rest[@]}"; then
        status=1
        keep_failures
    fi
    if [ ${#timed[@]} -gt 0 ] && ! run_timed "${timed[@]}"; then
        status=1
        keep_failures
    fi
    [ ${#again_alone[@]} -eq 0 ] ||
        echo "flame: passed alone, at a second try (${#again_alone[@]} of ${#timed[@]} timed test files): ${again_alone[*]}"
    if [ -n "${TEST_TIMES-}" ]; then
        [ "${SLOWEST:=10}" -eq 0 ] || [ ! -s "$TEST_TIMES" ] || print_slowest
        print_tries
    fi
    if [ "$status" -ne 0 ]; then
        echo 'flame: failed:'
        cat "$failures"
    fi
    rm -rf "$scratch"
    return $status
}

if [ "$browser" -eq 0 ] || lacks=$(scripts/browser.sh); then
    run "$@"
    exit
fi
if [ "${CI-}" = true ] || [ ${#others[@]} -eq 0 ]; then
    echo "flame: the browser tests must run, but $lacks" >&2
    exit 1
fi
status=0
run "${others[@]}" || status=$?
echo "flame: NOT TESTED: pictures and pages in a browser ($browser of $# test files): $lacks"
exit "$status"
