#!/bin/bash
# run-tests.sh PROVE-COMMAND... -- TEST...: runs tests under prove. Where the browser tests
# cannot run, the others do, and the last line says what was not tested and why. Under
# CI=true that is a failure, and so it is when nothing is left to run.
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

if [ "$browser" -eq 0 ] || lacks=$(scripts/browser.sh); then
    exec "${prove[@]}" "$@" </dev/null
fi
if [ "${CI-}" = true ] || [ ${#others[@]} -eq 0 ]; then
    echo "flame: the browser tests must run, but $lacks" >&2
    exit 1
fi
status=0
"${prove[@]}" "${others[@]}" </dev/null || status=$?
echo "flame: NOT TESTED: pictures and pages in a browser ($browser of $# test files): $lacks"
exit "$status"
