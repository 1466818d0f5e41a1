#!/bin/bash
# The tests' scratch directory stays until the test ends, whichever of its children ends earlier.
. "${0%/*}/../lib.sh"

sleep 300 &
stays=$!
for _ in {1..300}; do
    sleep 1 & # the child may become sleep after all, as bash can lose the signal
    kill "$!"
    wait "$!"
done 2>err
ok 'a child killed before its start leaves the scratch directory' test -d "$SCRATCH"
ok 'a child killed before its start leaves the other jobs' kill -0 "$stays"
kill "$stays"
done_testing
