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
is_str "$("$FLAME" collapse same.json)" $'outer 6\nouter;inner 4' 'the inner one comes first in the file'
events "$(call c 5 1)" "$(call b 5 2)" "$(call a 5 3)" "$(call a 9 1)" >three.json
is_str "$("$FLAME" collapse three.json)" $'a 2\na;b 1\na;b;c 1' 'three of them'
events "$(call first 0 4)" "$(call second 0 4)" >equal.json
is_str "$("$FLAME" collapse equal.json)" 'first;second 4' 'as long as each other: as they stand in the file'

events "$(other b)" "$(call f 0 4)" "$(other e)" >async.json
run_expect_status 0 'asynchronous events' "$FLAME" collapse async.json
is_str "$(cat out)" 'f 4' 'have no stack'
like "$(cat err)" 'async.json: 2 asynchronous events .* are left out' '... and are named'
events "$(other P)" >samples.json
run_expect_status 2 'samples alone' "$FLAME" collapse samples.json
like "$(cat err)" '0 asynchronous events, 1 samples and 0 other events .* but no calls' '... are an error that says so'
events "$(other C)" "$(other i)" "$(other M)" >counters.json
run_expect_status 2 'counters and moments alone' "$FLAME" collapse counters.json
like "$(cat err)" ', 0 samples and 2 other events .* but no calls' '... are an error, too'
events "$(other M)" >nothing.json
run_expect_status 0 'no events' "$FLAME" collapse nothing.json
is_str "$(cat err)" 'flame: nothing.json: the profile is empty' '... are an empty profile'

done_testing
