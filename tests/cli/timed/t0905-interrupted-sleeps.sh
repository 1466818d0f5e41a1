#!/bin/bash
# A sleep that signal handlers interrupt is as long in-process as
# by stops, whether the handlers' calls are logged or stop.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

libc=$(getconf GNU_LIBC_VERSION)
if [ "${libc##*.}" -lt 36 ]; then
    skip 'noted calls' 'this loader puts libflamegate.so elsewhere'
    done_testing
fi
compile_victim inner
# The time that handlers take from a sleep on a busy machine is not slept, and differs between two
# runs.
as_by_stops() {
    OFF_HOW=--no-in-process off --min-block 0 ./inner
    oview off >stopped.folded
    OFF_HOW=--in-process off --min-block 0 ./inner
    is_int "$status" 0 'flame off --in-process of calls in signal handlers succeeds'
    oview off >noted.folded
    mine=$(grep -v ';inner;' noted.folded | sum ';main;.*nanosleep ')
    truth=$(grep -v ';inner;' stopped.folded | sum ';main;.*nanosleep ')
    is_near "$mine" "$truth"
}
again 20 as_by_stops
near "$mine" "$truth" 'an interrupted sleep is as long in-process as by stops'
done_testing
