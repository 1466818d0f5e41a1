#!/bin/bash
# flame leak --check misuse: the same in the reports, each against its schema.
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

# reports WORD...: what `flame leak` makes of misnews in all formats.
reports() {
    run "$FLAME" leak -q --check misuse --json l.json --tap l.tap --junit l.xml --sarif l.sarif \
        --github l.gh --gitlab l.gl -o dir/ "$@"
}

mkdir dir
reports ./misnews new-free sized
is_int "$status" 23 'two misuses'
fits leak.json l.json 'leak.json fits its schema'
fits sarif.json l.sarif 'SARIF'
fits codequality.json l.gl "GitLab's"
ok "JUnit's" xmllint --noout --nonet --schema "$schemas/junit.xsd" l.xml
ok 'leak.json is in the directory' cmp -s l.json dir/*/leak.json
is_str "$(ls dir/*/)" leak.json 'alone, as nothing leaks'
is_str "$(jq -r '.misuses | map("\(.kind) \(.call) \(.made_by) \(.bytes) \(.count)") | join("|")' l.json)" \
    'mismatch free operator new 24 1|wrong-size operator delete operator new 24 1' 'what they are'
is_str "$(jq -r '.misuses[0] | "\(.at.frames[.at.place].function) \(.allocated.frames[.allocated.place].function)"' \
    l.json)" 'by_free(void*) by_new()' 'and where'
is_str "$(jq -r '.misuses[1].given_bytes, .leaks_found, .unjudged_frees' l.json | tr '\n' ' ')" '20 false 0 ' \
    'the size that was said; and no leak'
is_str "$(grep -c '^not ok 3 - misnews: uses the allocator rightly$' l.tap)" 1 'TAP has a point for it'
file_has l.tap '^1\.\.3$' 'of three'
file_has l.tap '^    - kind: wrong-size$' 'and each'
file_has l.xml '<testsuite .* tests="3" failures="1"' 'JUnit counts one failure'
file_has l.xml 'type="misuse" message="2 misuses of the allocator"' 'which names both'
is_str "$(jq -r '.runs[0] | .results as $r | .tool.driver.rules as $rules |
    $r | map("\(.ruleId) \($rules[.ruleIndex].id) \(.relatedLocations | length) \(.stacks | length)") | join("|")' \
    l.sarif)" 'mismatch mismatch 1 1|wrong-size wrong-size 1 1' 'SARIF: rules, and where it was allocated'
is_int "$(grep -c '^::error file=.*misnews.cc,line=[0-9]*,title=misuse in misnews::' l.gh)" 2 'annotations'
is_str "$(jq -r 'map(.check_name) | join(" ")' l.gl)" 'mismatch wrong-size' 'issues'
is_int "$(jq -r '.[].fingerprint' l.gl | sort -u | wc -l)" 2 'with fingerprints of their own'

reports ./misuses twice
is_int "$status" 134 'a command that abort ended'
fits leak.json l.json 'leak.json fits its schema'
is_str "$(jq -r '.misuses[0] | "\(.kind) \(.freed_by) \(.freed.frames[.freed.place].function)"' l.json)" \
    'double-free free drop_block' 'who had freed it'
is_str "$(jq -r '.end.signal' l.json)" 6 'and the end'

reports ./misnews clean
is_int "$status" 0 'nothing wrong'
file_has l.tap '^ok 3 - misnews: uses the allocator rightly$' 'TAP says so'
fits leak.json l.json 'leak.json fits its schema'
is_str "$(jq -c .misuses l.json)" '[]' 'leak.json says so'
is_str "$(cat l.gh)" '' 'no annotation'
run_expect_status 0 'without --check' "$FLAME" leak -q --json l.json --tap l.tap ./misnews new-free
is_str "$(jq -r 'has("misuses")' l.json)" false 'leak.json has no such key'
file_has l.tap '^1\.\.2$' 'nor TAP the point'

done_testing
