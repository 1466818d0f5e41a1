#!/bin/bash
# Chrome's events: of calls that begin at once the longer is the caller, and what is not read is named.
. "${0%/*}/../lib.sh"

events() { # EVENT...
    local IFS=,
    echo "{\"traceEvents\":[$*]}"
}
call() { # NAME START LENGTH
    echo "{\"ph\":\"X\",\"name\":\"$1\",\"ts\":$2,\"dur\":$3,\"pid\":1,\"tid\":1}"
}
other() { # KIND
    echo "{\"ph\":\"$1\",\"name\":\"x\",\"ts\":0,\"pid\":1,\"tid\":1}"
}

events "$(call inner 0 4)" "$(call outer 0 10)" >same.json
is_str "$("$FLAME" collapse same.json)" $'outer 6\nouter;inner 4' \
    'chrome: of calls that begin at once the longer is the caller'
events "$(call c 5 1)" "$(call b 5 2)" "$(call a 5 3)" "$(call a 9 1)" >three.json
is_str "$("$FLAME" collapse three.json)" $'a 2\na;b 1\na;b;c 1' \
    'chrome: three calls that begin at once are nested by length'
events "$(call first 0 4)" "$(call second 0 4)" >equal.json
is_str "$("$FLAME" collapse equal.json)" 'first;second 4' \
    'chrome: equal calls are nested in the order of the file'

events "$(other b)" "$(call f 0 4)" "$(other e)" >async.json
run_expect_status 0 'chrome: collapse of asynchronous events succeeds' "$FLAME" collapse async.json
is_str "$(cat out)" 'f 4' 'chrome: asynchronous events have no stack'
like "$(cat err)" 'async.json: 2 asynchronous events .* are left out' 'chrome: asynchronous events are reported'
events "$(other P)" >samples.json
run_expect_status 2 'chrome: samples alone end with status 2' "$FLAME" collapse samples.json
like "$(cat err)" '0 asynchronous events, 1 samples and 0 other events .* but no calls' \
    'chrome: samples alone are reported'
events "$(other C)" "$(other i)" "$(other M)" >counters.json
run_expect_status 2 'chrome: counters alone end with status 2' "$FLAME" collapse counters.json
like "$(cat err)" ', 0 samples and 2 other events .* but no calls' 'chrome: counters alone are reported'
events "$(other M)" >nothing.json
run_expect_status 0 'chrome: collapse without events succeeds' "$FLAME" collapse nothing.json
is_str "$(cat err)" 'flame: nothing.json: the profile is empty' 'chrome: no events are an empty profile'

done_testing
