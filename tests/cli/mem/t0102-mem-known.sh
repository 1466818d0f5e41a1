#!/usr/bin/env bash
# A program that knows its own allocations prints the folded stacks that flame must find.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

for opt in -O0 -O1 -O2; do
    compile_victim known "$opt" -fno-optimize-sibling-calls
    record "" ./known
    is_int "$status" 0 "$opt: known ends with status 0"
    sort out >want
    for v in alloc count live peak temp; do
        fview "$v" | from_main | sed "s/^/$v /"
    done | sort >got
    is_str "$(cat got)" "$(cat want)" "$opt: each view has the stacks that the program prints"
done
done_testing
