#!/usr/bin/env bash
# The cost of recording is printed where there is a clock; elsewhere there is no figure.
. "${0%/*}/../lib.sh"

compile_victim permits
compile_victim keeper
run_expect_status 0 'a program' "$FLAME" mem -o x.folded -- ./keeper keep:100:2000
file_has err '; recording cost about [0-9.]+ [^ ]*s, the run took ' 'has a cost'
if ./permits true; then
    run_expect_status 0 'below a seccomp filter' ./permits "$FLAME" mem -o x.folded -- ./keeper keep:100:2000
    file_has err '; what recording cost is not known, the run took [0-9.]+ [^ ]*s$' 'none is told'
    file_has x.folded ' 200000$' 'and all is recorded'
else
    skip 'below a seccomp filter' 'there can be none here'
fi
done_testing
