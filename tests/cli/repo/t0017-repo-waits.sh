#!/bin/bash
# The helpers with which tests wait: a repeated measurement is reported, on the test's output and in
# the file $TEST_TRIES; a state that never comes fails the test.
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
1..1' 'again repeats a measurement until it succeeds, and reports how often'
is_str "$(cat tries)" "TRIES 3 $SCRATCH/from/t0000-third.sh" 'again counts its tries in TEST_TRIES'
a_test 3 '0 3'
is_int "$status" 0 'again counts the last try'
a_test 2 '7 2'
is_str "$status $(head -n 1 out)" '0 # failed 2 tries' 'again gives up with the status of the last try'
is_str "$(cat tries)" "TRIES 2 $SCRATCH/from/t0000-third.sh" 'again counts failed tries in TEST_TRIES'
a_test 1 '7 1'
is_int "$status" 0 'again with one try succeeds if that fails with the expected status'
not_ok 'again with one try is not counted in TEST_TRIES' test -e tries
is_str "$(test_name)" tests/cli/repo/t0017-repo-waits.sh \
    'test_name is relative to the root of the sources'

# As until_true would be, had it waited for a minute.
cat >from/t0001-never.sh <<'END'
. "$ROOT/tests/cli/lib.sh"
sleep() { :; }
until_true test -e "$SCRATCH/never there"
test_ok 'is not reached'
END
run bash from/t0001-never.sh
is_int "$status" 1 'until_true fails the test whose state never comes'
is_str "$(cat out)" "not ok 1 - waited for: test -e $(sed -n 's/.*test -e \(.*\)/\1/p' out | head -n 1)
1..1" 'until_true ends the test whose state never comes'
sleep() { :; }
not_ok 'comes_true fails for a state that never comes' comes_true test -e never
unset -f sleep
ok 'comes_true succeeds for a state that comes' comes_true test -e out

sleep 60 &
sleeper=$!
until_in_call "$sleeper" 230 115
ok 'is_in_call finds a process in its call' is_in_call "$sleeper" 230 115
ok 'is_in_call finds a thread in its call' is_in_call "$sleeper/task/$sleeper" 230 115
not_ok 'is_in_call rejects another call' is_in_call "$sleeper" 30 2301 1150
not_ok 'is_traced rejects an untraced process' is_traced "$sleeper"
"$FLAME" off -q -o x.folded -p "$sleeper" 2>err </dev/null &
flame=$!
until_traced "$sleeper"
ok 'is_traced finds a traced process' is_traced "$sleeper"
kill "$flame"
wait "$flame"
kill "$sleeper"
not_ok 'is_in_call rejects a missing process' is_in_call 2147483000 230
not_ok 'is_traced rejects a missing process' is_traced 2147483000
done_testing
