#!/usr/bin/env bash
# The summary has the cost of recording if there is a clock.
. "${0%/*}/../lib.sh"

compile_victim permits
compile_victim keeper
run_expect_status 0 'flame mem of keeper succeeds' "$FLAME" mem -o x.folded -- ./keeper keep:100:2000
file_has err '; recording cost about [0-9.]+ [^ ]*s, the run took ' 'the summary has the cost of recording'
if ./permits true; then
    run_expect_status 0 'flame mem without a clock succeeds' \
        ./permits "$FLAME" mem -o x.folded -- ./keeper keep:100:2000
    file_has err '; what recording cost is not known, the run took [0-9.]+ [^ ]*s$' \
        'the summary without a clock says that the cost is unknown'
    file_has x.folded ' 200000$' 'a program without a clock is recorded'
else
    skip 'below a seccomp filter' 'there can be none here'
fi
done_testing
