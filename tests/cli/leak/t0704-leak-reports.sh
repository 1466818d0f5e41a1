#!/bin/bash
# flame leak: reports that suites and code hosts read, each checked with its schema, and names in
# them that have special characters of a format.
. "${0%/*}/../lib.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
schemas=$ROOT/tests/cli/schemas
compile_victim leakers -O0 -pthread

fits() {
    if "$python" -B -c 'import jsonschema' 2>/dev/null; then
        is_str "$("$python" -B "$ROOT/tests/cli/schema_check.py" "$schemas/$1" "$2" 2>&1)" '' "$3"
    else
        skip python3-jsonschema 'no python3-jsonschema'
    fi
}
fits_xml() {
    if command -v xmllint >/dev/null; then
        ok "$2" xmllint --noout --nonet --schema "$schemas/junit.xsd" "$1"
    else
        skip libxml2-utils 'no xmllint'
    fi
}
# Evaluates Python: get FILE EXPRESSION, with `r` for the file's contents.
export PYTHONUTF8=1
get() {
    "$python" -B -c 'import json, sys
with open(sys.argv[1], encoding="utf-8") as f: r = json.load(f)
print(eval(sys.argv[2]))' "$1" "$2" 2>&1
}
# The text of an element or attribute, by its path.
xml() {
    "$python" -B -c 'import sys, xml.etree.ElementTree as e
print(eval(sys.argv[2], {"r": e.parse(sys.argv[1]).getroot()}))' "$1" "$2" 2>&1
}
report() {
    run "$FLAME" leak -o l.folded --json l.json --tap l.tap --junit l.xml --sarif l.sarif \
        --github l.github --gitlab l.gitlab "$@"
}
fit_all() {
    fits leak.json l.json "$1: leak.json is valid"
    fits sarif.json l.sarif "$1: SARIF is valid"
    fits codequality.json l.gitlab "$1: Code Quality is valid"
    fits_xml l.xml "$1: JUnit is valid"
    # The prove of Debian 12 and 13 knows version 13 only, which says the same of all that is here.
    sed '1s/14$/13/' l.tap >l13.tap
    prove -Q --ignore-exit -e cat l13.tap >prove.out 2>&1
    not_ok "$1: TAP has no parse error" grep -E 'Parse errors|Unknown' prove.out
}

# ---- leaks ----

report --name 'suite/one' -- ./leakers
is_int "$status" 23 'flame leak with all reports ends with status 23'
is_str "$(cat out)" '' 'flame leak with all reports prints nothing on standard output'
fit_all leaks
is_str "$(get l.json 'r["name"], r["command"], r["leaks_found"], r["end"]')" \
    "('suite/one', ['./leakers'], True, {'status': 0})" 'leak.json has name, command, verdict and status'
is_str "$(get l.json '[(l["class"], l["bytes"], l["blocks"], l["thread"]["name"], l["frames"][l["place"]]["function"]) for l in r["leaks"]]')" \
    "[('definite', 5000, 1, 'worker', 'worker_leaks'), ('definite', 104, 1, 'leakers', 'chain_leaks'), ('indirect', 104, 1, 'leakers', 'chain_leaks'), ('definite', 0, 1, 'leakers', 'leak_deeper')]" \
    'leak.json has each leak'
is_str "$(get l.json 'r["sums"]["definite"], r["sums"]["indirect"], r["allowed"]')" \
    "({'bytes': 5104, 'blocks': 3}, {'bytes': 104, 'blocks': 1}, {'bytes': 0, 'blocks': 0})" \
    'leak.json has the sums'
is_str "$(get l.json '[(p["name"], p["looked"]) for p in r["processes"]]')" "[('leakers', True)]" \
    'leak.json has the processes'
is_str "$(get l.json '{p["pid"] for p in r["processes"]} == {l["process"]["pid"] for l in r["leaks"]}')" \
    True 'leak.json has the process id of each leak'
is_str "$(grep -E '^(not )?ok' l.tap)" 'ok 1 - suite/one: ends with status 0
not ok 2 - suite/one: leaks no memory' 'TAP has two points'
is_str "$(grep -cE '^        - "' l.tap)" "$(get l.json 'sum(len(l["frames"]) for l in r["leaks"])')" \
    'TAP has each frame'
is_str "$(xml l.xml '[(c.get("name"), c.find("failure") is not None) for c in r.iter("testcase")]')" \
    "[('end', False), ('leaks', True)]" 'JUnit has two cases'
is_str "$(xml l.xml 'r.get("failures"), r.find("testsuite").get("name")')" "('1', 'suite/one')" \
    'JUnit has one failure'
like "$(xml l.xml 'r.find(".//failure").text')" '5,000 bytes in 1 block, definite: worker_leaks ' \
    "JUnit's failure lists the leaks"
line=$(get l.json 'r["leaks"][0]["frames"][0]["line"]')
is_str "$(get l.sarif '[(x["ruleId"], x["locations"][0]["physicalLocation"]["region"]["startLine"]) for x in r["runs"][0]["results"]][0]')" \
    "('definite-leak', $line)" 'SARIF has rule and line'
is_str "$(get l.sarif 'all(r["runs"][0]["tool"]["driver"]["rules"][x["ruleIndex"]]["id"] == x["ruleId"] for x in r["runs"][0]["results"])')" \
    True "SARIF's results have the index of their rule"
is_str "$(get l.gitlab 'len(r), len({x["fingerprint"] for x in r}), r[0]["location"]["lines"]["begin"]')" \
    "(4, 4, $line)" 'Code Quality has an issue a stack'
like "$(head -1 l.github)" "^::error file=[^,:]*leakers\.c,line=$line,title=leak in suite/one::.*5,000 bytes in 1 block" \
    "GitHub's annotation has file, line and title"
is_int "$(wc -l <l.github)" 4 'GitHub has an annotation a stack'
first=$(get l.sarif '[x["partialFingerprints"]["leakStack/v1"] for x in r["runs"][0]["results"]]')
report -- ./leakers
is_str "$(get l.sarif '[x["partialFingerprints"]["leakStack/v1"] for x in r["runs"][0]["results"]]')" "$first" \
    "SARIF's fingerprints are the same in a second run"

# ---- no leaks, failures, processes ----

report -- ./leakers many:0
is_int "$status" 0 'flame leak without leaks ends with status 0'
fit_all 'no leaks'
is_str "$(grep -cE '^ok' l.tap) $(xml l.xml 'r.get("failures")') $(get l.sarif 'len(r["runs"][0]["results"])') $(get l.gitlab 'len(r)') $(wc -c <l.github)" \
    '2 0 0 0 0' 'reports without leaks have no failure'
report -- ./leakers fail
is_int "$status" 5 'flame leak of a command that fails ends with its status'
fit_all 'a failure'
is_str "$(grep -cE '^not ok' l.tap) $(xml l.xml 'r.get("failures")')" '2 2' \
    'reports of a command that fails have that failure and the leaks'
report -- sh -c 'kill -SEGV $$'
fit_all 'a signal'
is_str "$(get l.json 'r["end"]')" "{'status': 139, 'signal': 11}" \
    'leak.json has the signal that ended the command'
report -- sh -c './leakers killed; env -i ./leakers; true'
fit_all 'unseen processes'
file_has l.tap '^# not checked for leaks: leakers [0-9]+$' 'TAP names the unchecked process'
like "$(xml l.xml 'r.find(".//system-err").text')" 'not checked for leaks: leakers [0-9]+' \
    'JUnit names the unchecked process'
like "$(get l.json 'r["not_recorded"]')" 'leakers' 'leak.json names the unrecorded process'
report --max-bytes 9000 -- ./leakers
is_int "$status" 0 'flame leak with allowed leaks ends with status 0'
is_str "$(get l.json 'r["leaks_found"], len(r["leaks"]), r["allowed"]')" \
    "(False, 4, {'bytes': 9000, 'blocks': None})" 'leak.json has allowed leaks, without a failure'
is_str "$(get l.gitlab 'len(r)')" 0 'Code Quality has no issue for allowed leaks'
report --live -- ./leakers
fit_all live
is_str "$(get l.json '{l["class"] for l in r["leaks"]}')" "{'live'}" 'leak.json of --live has the class live'

# ---- destinations of reports ----

run_expect_status 23 'flame leak --tap - ends with status 23' \
    "$FLAME" leak -q --tap - -- sh -c 'echo mine; exec ./leakers'
is_str "$(head -2 out)" 'mine
TAP version 14' "a report on standard output follows the command's output"
mkdir reports
run_expect_status 23 'flame leak with reports into directories ends with status 23' \
    "$FLAME" leak --tap reports --junit new/ --name 'a/b c' -- ./leakers
run_expect_status 23 'a second flame leak with reports into directories ends with status 23' \
    "$FLAME" leak --tap reports --junit new/ --name 'a/b c' -- ./leakers
is_int "$(find reports -name 'a_b_c-2*.tap' -size +0 | wc -l)" 2 \
    'two reports in a directory have different names'
is_int "$(find new -name 'a_b_c-2*.junit.xml' -size +0 | wc -l)" 2 'a missing directory for reports is created'

# ---- hostile names ----

# shellcheck disable=SC2016 # no variables
function='x]]>&<b>"\%0A::{0}[a](u),$`;#'
file='ev%0Ail,dir:x/<&">\"{1}# é.c'
compile_hostile() {
    mkdir -p "${file%/*}"
    cp "$ROOT/tests/victims/mem/hostile.c" "$file"
    ok 'the hostile program is compiled' "${CC:-gcc}" -O0 -g -o hostile "$PWD/$file"
    "$python" -B -c 'import sys
name = b"hostile_________________________________________________"
new = sys.argv[1].encode("utf-8", "surrogateescape")
with open("hostile", "rb") as f: data = f.read()
assert data.count(name) > 0
with open("hostile", "wb") as f: f.write(data.replace(name, new + b"_" * (len(name) - len(new))))' "$1"
}
compile_hostile "$function"
report --name "$function" -- ./hostile "$function" "$(printf 'a\377\033[31m\nb')"
is_int "$status" 23 'flame leak of a hostile program ends with status 23'
fit_all hostile
# ';' becomes ':' in all folded text.
shown=${function//;/:}
is_str "$(get l.json 'r["leaks"][0]["frames"][0]["function"].rstrip("_")')" "$shown" \
    'leak.json has the hostile function name'
is_str "$(get l.json 'r["leaks"][0]["frames"][0]["file"][-len("ev%0Ail,dir:x/<&\">\"{1}# .c") - 2:]')" "${file}" \
    'leak.json has the hostile file name'
is_str "$(get l.json 'r["name"], r["command"][1]' | head -c 8)" "('x]]>&<" 'leak.json has the hostile test name'
like "$(xml l.xml 'r.find(".//failure").text')" 'x\]\]>&<b>"\\%0A::\{0\}\[a\]\(u\),' \
    'JUnit has the hostile function name'
is_int "$(grep -c '^ok\|^not ok' l.tap)" 2 'TAP of hostile names has two points'
file_has l.tap '^not ok 2 - x.*;\\#: leaks no memory$' 'TAP of hostile names has no directive'
is_str "$(wc -l <l.github) $(grep -c '^::error ' l.github)" '1 1' 'GitHub of hostile names has one command'
like "$(cat l.github)" '^::error file=[^:,]*ev%250Ail%2Cdir%3Ax[^:,]*,line=[0-9]+,title=leak in [^:,]*::' \
    "GitHub's properties of hostile names have no separator"
unlike "$(cat l.github)" 'x[^%]*%0A' "GitHub's properties of hostile names have no line break"
like "$(get l.sarif 'r["runs"][0]["results"][0]["message"]["text"]')" '\{\{0\}\}\\\[a\\\]\(u\)' \
    'SARIF of hostile names has no placeholder and no link'
like "$(get l.sarif 'r["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]')" \
    'ev%250Ail%2Cdir%3Ax/%3C%26%22%3E(%5C)?%22' "SARIF's path of a hostile file name is a URI"
not_ok 'reports of hostile names have no control character' \
    grep -lP '[\x00-\x09\x0b-\x1f\x7f]' l.json l.tap l.xml l.sarif l.gitlab l.github
for report in l.json l.tap l.xml l.sarif l.gitlab l.github; do
    ok "$report of hostile names is UTF-8" iconv -f UTF-8 -t UTF-8 "$report"
done
compile_hostile "$(printf 'a\n::error::x\r\033[31m\377\302\205')"
report -- ./hostile
fit_all controls
is_int "$(wc -l <l.github)" 1 'GitHub of control characters has one command'
not_ok 'reports of control characters have no control character' \
    grep -lP '[\x00-\x09\x0b-\x1f\x7f]' l.json l.tap l.xml l.sarif l.gitlab l.github err

done_testing
