#!/bin/bash
# flame leak --check misuse: misuse in the reports, each checked with its schema.
. "${0%/*}/../lib.sh"

schemas=$ROOT/tests/cli/schemas
python=python3
compile_victim misnews -O1 -std=c++17 -pthread
compile_victim misuses -O1 -pthread -ldl

fits() {
    if "$python" -B -c 'import jsonschema' 2>/dev/null; then
        is_str "$("$python" -B "$ROOT/tests/cli/schema_check.py" "$schemas/$1" "$2" 2>&1)" '' "$3"
    else
        skip python3-jsonschema 'no python3-jsonschema'
    fi
}

# reports WORD...: the reports of flame leak in all formats.
reports() {
    run "$FLAME" leak -q --check misuse --json l.json --tap l.tap --junit l.xml --sarif l.sarif \
        --github l.gh --gitlab l.gl -o dir/ "$@"
}

mkdir dir
reports ./misnews new-free sized
is_int "$status" 23 'flame leak with reports of two misuses ends with status 23'
fits leak.json l.json 'two misuses: leak.json is valid'
fits sarif.json l.sarif 'two misuses: SARIF is valid'
fits codequality.json l.gl "two misuses: GitLab's report is valid"
ok 'two misuses: JUnit is valid' xmllint --noout --nonet --schema "$schemas/junit.xsd" l.xml
ok 'two misuses: the directory has leak.json' cmp -s l.json dir/*/leak.json
is_str "$(ls dir/*/)" leak.json 'two misuses without leaks: the directory has only leak.json'
is_str "$(jq -r '.misuses | map("\(.kind) \(.call) \(.made_by) \(.bytes) \(.count)") | join("|")' l.json)" \
    'mismatch free operator new 24 1|wrong-size operator delete operator new 24 1' \
    'leak.json has kind, call and origin of each misuse'
is_str "$(jq -r '.misuses[0] | "\(.at.frames[.at.place].function) \(.allocated.frames[.allocated.place].function)"' \
    l.json)" 'by_free(void*) by_new()' 'leak.json has the place of a misuse and of the allocation'
is_str "$(jq -r '.misuses[1].given_bytes, .leaks_found, .unjudged_frees' l.json | tr '\n' ' ')" '20 false 0 ' \
    'leak.json has the given size of a misuse, and no leak'
is_str "$(grep -c '^not ok 3 - misnews: uses the allocator rightly$' l.tap)" 1 'TAP has a point for misuse'
file_has l.tap '^1\.\.3$' 'TAP with misuse has three points'
file_has l.tap '^    - kind: wrong-size$' 'TAP has each misuse'
file_has l.xml '<testsuite .* tests="3" failures="1"' 'JUnit counts one failure for misuse'
file_has l.xml 'type="misuse" message="2 misuses of the allocator"' "JUnit's failure has the number of misuses"
is_str "$(jq -r '.runs[0] | .results as $r | .tool.driver.rules as $rules |
    $r | map("\(.ruleId) \($rules[.ruleIndex].id) \(.relatedLocations | length) \(.stacks | length)") | join("|")' \
    l.sarif)" 'mismatch mismatch 1 1|wrong-size wrong-size 1 1' \
    'SARIF has the rules and the allocations of misuses'
is_int "$(grep -c '^::error file=.*misnews.cc,line=[0-9]*,title=misuse in misnews::' l.gh)" 2 \
    'GitHub has an annotation for each misuse'
is_str "$(jq -r 'map(.check_name) | join(" ")' l.gl)" 'mismatch wrong-size' \
    'GitLab has an issue for each misuse'
is_int "$(jq -r '.[].fingerprint' l.gl | sort -u | wc -l)" 2 \
    "GitLab's issues of misuses have different fingerprints"

reports ./misuses twice
is_int "$status" 134 'flame leak with reports of an aborted command ends with status 134'
fits leak.json l.json 'an aborted command: leak.json is valid'
is_str "$(jq -r '.misuses[0] | "\(.kind) \(.freed_by) \(.freed.frames[.freed.place].function)"' l.json)" \
    'double-free free drop_block' 'leak.json has the first free of a double free'
is_str "$(jq -r '.end.signal' l.json)" 6 'leak.json has the signal of an aborted command'

reports ./misnews clean
is_int "$status" 0 'flame leak with reports without misuse ends with status 0'
file_has l.tap '^ok 3 - misnews: uses the allocator rightly$' 'TAP without misuse passes'
fits leak.json l.json 'no misuse: leak.json is valid'
is_str "$(jq -c .misuses l.json)" '[]' 'leak.json without misuse has an empty list'
is_str "$(cat l.gh)" '' 'GitHub without misuse has no annotation'
run_expect_status 0 'flame leak with reports without --check ends with status 0' \
    "$FLAME" leak -q --json l.json --tap l.tap ./misnews new-free
is_str "$(jq -r 'has("misuses")' l.json)" false 'leak.json without --check has no misuses'
file_has l.tap '^1\.\.2$' 'TAP without --check has two points'

done_testing
