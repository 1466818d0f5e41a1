#!/bin/bash
# Regions that a program marks in itself (preload/flamemem.h): what each leaves behind is told
# to the program, recorded, and named by flame leak. The victim's blocks have sizes of their
# own, so that what belongs to which region is seen.
. "${0%/*}/../lib.sh"

compile_victim testcases -pthread -ldl

# ---- without the library ----

like "$(nm -D testcases)" '^ +w flamemem_begin_mark$' 'the functions need not be there'
run_expect_status 0 'without the library the program runs' ./testcases alone
file_lacks out '[1-9][0-9]* (not looked)?$' 'and is told nothing'
for flags in '-no-pie -fno-pie' '-O0' '-O2 -fPIE -pie'; do
    # shellcheck disable=SC2086 # flags are words
    compile_victim testcases $flags -pthread -ldl
    run "$FLAME" leak -q -o x.svg -- ./testcases alone
    file_has out '^leaks: 1 1000$' "compiled with $flags the library is found"
done
compile_victim testcases -pthread -ldl
ok 'C++ compiles it' "${CXX:-g++}" -fsyntax-only -Wall -Wextra -Werror -x c++ -I"$ROOT" - <<'END'
#include "preload/flamemem.h"
bool clean() { return flamemem_leak_begin_with("x", FLAMEMEM_ALL_THREADS) && !flamemem_leak_end().blocks; }
END
run_expect_status 0 'the recorder that does not look' "$FLAME" mem -q -o x.folded -- ./testcases alone
file_has out '^leaks: 0 0 not looked$' 'finds nothing in a region'
file_has out '^live: 2 2011$' 'but what is still live, if that is asked'

# ---- one thread ----

run_expect_status 23 'regions that leak fail' "$FLAME" leak -o alone.flame -- ./testcases alone
is_str "$(cat out)" 'nothing: 0 0 not looked
leaks: 1 1000
clean: 0 0
reached: 0 0
live: 2 2011
again: 1 1007
again: 1 1007
again: 1 1007
inner: 1 1002
outer: 2 2004
hostile: 1 1010
none: 1 1011
empty: 1 1012
long: 1 1013
resized: 1 1020
not resized: 1 1021
freed: 0 0' 'each region leaves what it left'
file_has err 'flamemem_leak_end without a flamemem_leak_begin' 'an end without a beginning is said'
file_has err '^flame: leak: .* left behind by 11 regions:$' 'the regions are counted'
file_has err '^flame:   1,000 bytes in 1 block, region leaks: lose [^ ]*testcases\.c:[0-9]+ \(thread testcases of testcases [0-9]+\)$' 'and named'
file_has err '^flame: .* 1,030 bytes in 1 block, region not ended: lose ' \
    'one that was not ended ends with the process'
file_has err '^flame: .* 3,021 bytes in 3 blocks, region again: lose ' \
    'regions of one name are one'
file_has err '^flame: .* 1,012 bytes in 1 block, region unnamed: lose ' \
    'those without a name have one'
file_has err '^flame: .* region a:b  \[31m'$'\xef\xbf\xbd'' 12: lose ' 'a hostile name is harmless'
file_lacks err $'\033' 'on a terminal, too'
"$FLAME" fold --view region alone.flame >region.folded
is_int "$(grep -c '^# \|^testcases;\[region ' region.folded)" "$(wc -l <region.folded)" \
    'the view of regions has a frame for each'
file_has region.folded '^testcases;\[region inner\];.*;nested;lose 1002$' 'with the stacks below'
file_has region.folded '^testcases;\[region outer\];.*;nested;keep 1003$' \
    'what outlives an inner region is the outer one'"'"'s'
file_has region.folded "^testcases;\\[region n{255}\\];.* 1013$" 'long names are cut'
is_str "$("$FLAME" fold --view region --tid alone.flame | grep -c ';\[region ')" \
    "$(grep -c ';\[region ' region.folded)" 'threads are told apart'
is_str "$("$FLAME" fold --view live alone.flame | grep -c '\[region ')" 0 'other views have none'
is_str "$("$FLAME" dump --json --section node alone.flame | grep -c '"region":')" \
    "$("$FLAME" dump --json --section node alone.flame | grep -c '"kind": "region"')" 'dump names them'
"$FLAME" leak -q -o page.html -- ./testcases alone >out 2>err
file_has page.html 'region inner' 'a page has the view'

# Leftovers of a region are a row of each report, and are suppressed or known like any other leak.
python=$(command -v /usr/bin/python3 || command -v python3 || echo false)
get() {
    "$python" -B -c 'import json, sys
with open(sys.argv[1], encoding="utf-8") as f: r = json.load(f)
print(eval(sys.argv[2]))' "$1" "$2" 2>&1
}
run "$FLAME" leak -q -o results/ --json l.json --tap l.tap --junit l.xml --sarif l.sarif \
    --github l.github --gitlab l.gitlab -- ./testcases alone
if "$python" -B -c 'import jsonschema' 2>/dev/null; then
    is_str "$("$python" -B "$ROOT/tests/cli/schema_check.py" "$ROOT/tests/cli/schemas/leak.json" l.json 2>&1)" '' \
        'leak.json with regions fits its schema'
else
    skip python3-jsonschema 'no python3-jsonschema'
fi
is_str "$(get l.json '[(l["bytes"], l["frames"][0]["function"], l["thread"]["name"]) for l in r["leaks"] if l.get("region") == "leaks"]')" \
    "[(1000, 'lose', 'testcases')]" 'leak.json has a region'"'"'s leak with its name and thread'
is_str "$(get l.json 'r["sums"]["region"]["bytes"] == sum(l["bytes"] for l in r["leaks"] if l["class"] == "region")')" \
    True 'and a sum of them'
is_str "$(get l.json 'len({l["region"] for l in r["leaks"] if l["class"] == "region"})')" 11 'and each region'
is_str "$(get l.json 'any("[region" in f["function"] for l in r["leaks"] for f in l["frames"])')" False \
    'which is no frame'
ok 'a directory of results has it, too' cmp -s <(get l.json '[l["bytes"] for l in r["leaks"]]') \
    <(get results/*/leak.json '[l["bytes"] for l in r["leaks"]]')
file_has l.tap '^      region: "leaks"$' 'TAP'
file_has l.tap '^  message: ".* leaked, .* left behind by regions, 0 allowed"$' 'with both sums'
file_has l.xml '1,000 bytes in 1 block, region leaks: lose ' 'JUnit'
is_int "$(get l.sarif 'sum(x["ruleId"] == "region-leak" for x in r["runs"][0]["results"])')" \
    "$(grep -c 'block[s]*, region ' l.xml)" 'SARIF'
is_str "$(get l.sarif 'all(r["runs"][0]["tool"]["driver"]["rules"][x["ruleIndex"]]["id"] == x["ruleId"] for x in r["runs"][0]["results"])')" \
    True 'by its rule'
file_has l.github '1,000 bytes in 1 block, region leaks: lose ' 'GitHub'
is_int "$(get l.gitlab 'sum(x["check_name"] == "region-leak" for x in r)')" \
    "$(grep -c 'block[s]*, region ' l.xml)" 'GitLab'
printf 'leak:nested\n' >supp
run "$FLAME" leak --suppressions supp -o s.folded -- ./testcases alone
file_has err 'suppressed: supp:1: leak:nested' 'a suppression hides what regions left'
file_lacks err 'region (inner|outer): ' 'by its stack'
file_has err 'region leaks: ' 'and nothing else'
run_expect_status 0 'all of it' "$FLAME" leak --suppressions <(echo leak:testcases) -o s.folded -- ./testcases alone
run_expect_status 0 'a baseline takes it' "$FLAME" leak --write-baseline base -- ./testcases alone
run_expect_status 0 'and knows it' "$FLAME" leak --baseline base -- ./testcases alone

# Only regions leave something, as all is free at the end.
cat >later.c <<'END'
#include <stdlib.h>
#include "preload/flamemem.h"
static void *volatile kept;
int main(void)
{
    flamemem_leak_begin_with("later", FLAMEMEM_STILL_LIVE);
    kept = malloc(123);
    flamemem_leak_end();
    free(kept);
    return 0;
}
END
ok 'a program that frees later is built' "${CC:-gcc}" -g -I"$ROOT" -o later later.c
run_expect_status 23 'what is free at the end was left behind before' \
    "$FLAME" leak -o later.folded -- ./later
file_has later.folded '^# flame: view=region ' 'and the result shows that'
file_has later.folded ';\[region later\];.*;main 123$' 'with its stack'
run_expect_status 0 'as many may be allowed' "$FLAME" leak --max-bytes 123 -o later.folded -- ./later
run_expect_status 23 'or too few' "$FLAME" leak --max-bytes 122 -o later.folded -- ./later
"$FLAME" mem -q -o plain.flame -- /bin/true
run_expect_status 2 'a trace without regions' "$FLAME" fold --view region plain.flame
file_has err 'recorded without a region that left anything behind' 'says that it has none'

# ---- several ----

run_expect_status 23 'too many regions' "$FLAME" leak -q -o many.svg -- ./testcases many
is_str "$(cat out)" '1023 watched, 1200 exact
behind them: 0 0 not looked' 'are not watched, and the others are still told apart'
run_expect_status 23 'threads' "$FLAME" leak -o threads.flame -- ./testcases threads
is_str "$(cat out)" 'second: 1 2002
first: 1 2001
0 of 100 wrong
own: 1 2201
everybody: 1 2200' 'have regions of their own, or one of all of them'
file_has err ' 2,003 bytes in 1 block, region of a thread that ends: lose ' \
    'a thread may end in a region'
run_expect_status 23 'a fork in a region' "$FLAME" leak -o fork.svg -- ./testcases fork
is_str "$(cat out)" "in the child: 0 0 not looked
child's own: 1 3003
around a fork: 1 3001" 'leaves the region to the parent'
file_has err " 3,003 bytes in 1 block, region child's own: lose " 'a child has its own'
run_expect_status 23 'by the name of the function' "$FLAME" leak -o name.svg -- ./testcases name
is_str "$(cat out)" 'by name: 4000' 'it is found'

# ---- what the others notice of a look ----

# From 2.41 on glibc's code does not say which call a thread was on its way into, and such a one is cut
# short now and then (preload/leak/stop_the_world.c); what is wrong would be wrong always.
want='300 signals, no more calls ended by them, 0 others cut short'
libc=$(getconf GNU_LIBC_VERSION)
no_call_cut_short() {
    run_expect_status 0 'threads in calls' timeout 200 "$FLAME" leak -q -- ./testcases calls
    [ "${libc##*.}" -lt 41 ] || [ "$(cat out)" = "$want" ]
}
again 5 no_call_cut_short
is_str "$(cat out)" "$want" \
    'get all signals, and no EINTR of ours'
run_expect_status 0 'a signal that is to end a call' timeout 200 "$FLAME" leak -q -- ./testcases timers
is_str "$(cat out)" '200 calls ended' 'ends it'

done_testing
