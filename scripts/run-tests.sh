#!/bin/bash
# run-tests.sh PROVE-COMMAND... -- TEST...: runs tests under prove. Where the browser tests
# cannot run, the others do, and the last line says what was not tested and why. Under
# CI=true that is a failure, and so it is when nothing is left to run. $TEST_TIMES, if it is set,
# is a file for what tests/testclock.c counts: the $SLOWEST (10) tests that took most of the
# processors are listed at the end.
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

# run TEST...: as prove's exit status.
run() {
    local status=0
    [ -z "${TEST_TIMES-}" ] || : >"$TEST_TIMES"
    "${prove[@]}" "$@" </dev/null || status=$?
    if [ -s "${TEST_TIMES-}" ] && [ "${SLOWEST:=10}" -gt 0 ]; then
        awk '{ s += $1 } END {
            printf "flame: %.0f s of CPU in %d test files; most of it, and seconds by the clock, in:\n", s, NR }' "$TEST_TIMES"
        sort -rn "$TEST_TIMES" | awk '{ printf "%8.2f %8.2f  %s\n", $1, $2, $3 }' | sed -n "1,${SLOWEST}p"
    fi
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
