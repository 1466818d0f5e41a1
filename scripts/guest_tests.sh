#!/bin/bash
# guest_tests.sh: runs in the guest, started by guest.sh -t: the tests that /work/tests lists, one
# after the other. One line for each has its result; failed checks follow it. GUEST_TEST_SECONDS
# bounds each one.
set -u
tree=$(cat /work/tree)
cd "$tree" || exit 1
export O=build LC_ALL=C USER=root
ulimit -c 0
failed=0
# shellcheck source=/dev/null
. /work/environment
while read -r test; do
    begun=$SECONDS status=0
    case $test in
    *.sh) timeout -k 5 "${GUEST_TEST_SECONDS:-120}" bash ${GUEST_TRACE:+-x} "$test" >/run/out 2>/run/err </dev/null || status=$? ;;
    *) timeout -k 5 "${GUEST_TEST_SECONDS:-120}" "$test" >/run/out 2>/run/err </dev/null || status=$? ;;
    esac
    name=${test##*/}
    good=$(grep -c '^ok' /run/out) bad=$(grep -c '^not ok' /run/out) skipped=$(grep -c '^ok.* # SKIP\|^1\.\.0' /run/out)
    if [ "$status" -eq 0 ] && [ "$bad" -eq 0 ]; then
        echo "pass $name: $good checks, $skipped skipped, $((SECONDS - begun)) s"
        grep ' # SKIP' /run/out | sed 's/^/    /'
    else
        failed=1
        echo "FAIL $name: status $status, $good hold, $bad do not, $((SECONDS - begun)) s"
        grep -v '^ok' /run/out | head -n 40 | sed 's/^/    /'
        tail -n "${GUEST_LINES:-60}" /run/err | cut -c1-300 | sed 's/^/    /'
        [ "$status" -ne 124 ] || tail -n 1 /run/out | sed 's/^/    last: /'
    fi
done </work/tests
exit $failed
