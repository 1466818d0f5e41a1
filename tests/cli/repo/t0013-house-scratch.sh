#!/bin/bash
# The tests' scratch directory stays until the test ends, whichever of its children is ended before.
. "${0%/*}/../lib.sh"

sleep 300 &
stays=$!
for _ in {1..300}; do
    sleep 1 & # which such a child may become all the same, as bash can lose the signal
    kill "$!"
    wait "$!"
done 2>err
ok 'a child that is ended before it has begun takes nothing with it' test -d "$SCRATCH"
ok 'nor other jobs' kill -0 "$stays"
kill "$stays"
done_testing
