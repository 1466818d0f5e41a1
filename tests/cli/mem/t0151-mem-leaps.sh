#!/bin/bash
# Stacks deeper than the depth limit, that grow by more than the limit between two allocations.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim leaps
for way in '300 100' '1100 600' '1700 600' '1700 700' '2000 1200' '5000 5000' '600 5000'; do
    # shellcheck disable=SC2086 # two numbers
    record '' ./leaps $way
    # shellcheck disable=SC2086
    is_str "$status $(cat out)" "0 $((${way% *} + ${way#* }))" "leaps $way: the program behaves as unrecorded"
    fview alloc >got
    for block in 'down 11' 'further 100'; do
        is_int "$(grep -E ";${block% *} [0-9]+$" got | awk '{ s += $NF } END { printf "%d", s }')" "${block#* }" \
            "leaps $way: blocks of ${block% *} have their stack"
    done
done
done_testing
