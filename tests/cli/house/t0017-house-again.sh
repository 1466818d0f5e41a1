#!/bin/bash
# A measurement of a test that is repeated is told: on the test's output, and in the file $TEST_TRIES.
. "${0%/*}/../lib.sh"

# a_test NUMBER: runs a test, in the folder from, that measures until the third time, NUMBER times at
# most; its output in out.
mkdir from
cat >from/t0000-third.sh <<'END'
. "$ROOT/tests/cli/lib.sh"
measured=0
third() {
    measured=$((measured + 1))
    [ "$measured" = 3 ] || return 7
}
again "$1" third
is_str "$? $measured" "$2" 'status and measurements'
done_testing
END
a_test() {
    rm -f tries
    run env TEST_TRIES="$SCRATCH/tries" bash from/t0000-third.sh "$@"
}

a_test 5 '0 3'
is_str "$status $(cat out)" '0 # took 3 tries
ok 1 - status and measurements
1..1' 'again repeats a measurement until it succeeds, and tells how often'
is_str "$(cat tries)" "TRIES 3 $SCRATCH/from/t0000-third.sh" 'the tries are counted for the whole suite'
a_test 3 '0 3'
is_int "$status" 0 'the last try counts'
a_test 2 '7 2'
is_str "$status $(head -n 1 out)" '0 # failed 2 tries' 'again gives up with the status of the last try'
is_str "$(cat tries)" "TRIES 2 $SCRATCH/from/t0000-third.sh" 'which is counted as well'
a_test 1 '7 1'
is_int "$status" 0 'one try is made where one is allowed'
not_ok 'and not counted' test -e tries
is_str "$(test_name)" tests/cli/house/t0017-house-again.sh \
    'a test is named as of the root of the sources'
done_testing
