#!/bin/bash
# Regions that a program marks in itself (preload/flamemem.h): the leaks of each are reported
# to the program, recorded, and named by flame leak. The victim's blocks have different
# sizes, which show the region of each.
. "${0%/*}/../lib.sh"

compile_victim testcases -pthread -ldl

# ---- without the library ----

like "$(nm -D testcases)" '^ +w flamemem_begin_mark$' 'the functions of flamemem.h are weak symbols'
run_expect_status 0 'testcases runs without the library' ./testcases alone
file_lacks out '[1-9][0-9]* (not looked)?$' 'testcases without the library finds no leaks'
for flags in '-no-pie -fno-pie' '-O0' '-O2 -fPIE -pie'; do
    # shellcheck disable=SC2086 # flags are words
    compile_victim testcases $flags -pthread -ldl
    run "$FLAME" leak -q -o x.svg -- ./testcases alone
    file_has out '^leaks: 1 1000$' "testcases compiled with $flags finds the library"
done
compile_victim testcases -pthread -ldl
ok 'C++ compiles flamemem.h' "${CXX:-g++}" -fsyntax-only -Wall -Wextra -Werror -x c++ -I"$ROOT" - <<'END'
#include "preload/flamemem.h"
bool clean() { return flamemem_leak_begin_with("x", FLAMEMEM_ALL_THREADS) && !flamemem_leak_end().blocks; }
END
run_expect_status 0 'flame mem of testcases succeeds' "$FLAME" mem -q -o x.folded -- ./testcases alone
file_has out '^leaks: 0 0 not looked$' 'a region under flame mem finds no leaks'
file_has out '^live: 2 2011$' 'a region under flame mem finds live blocks'

# ---- one thread ----

run_expect_status 23 'flame leak of regions that leak ends with status 23' \
    "$FLAME" leak -o alone.flame -- ./testcases alone
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
freed: 0 0' 'each region reports its own leaks to the program'
file_has err 'flamemem_leak_end without a flamemem_leak_begin' 'an end without a beginning is reported'
file_has err '^flame: leak: .* left behind by 11 regions:$' 'flame leak counts the regions'
file_has err '^flame:   1,000 bytes in 1 block, region leaks: lose [^ ]*testcases\.c:[0-9]+ \(thread testcases of testcases [0-9]+\)$' \
    'flame leak names a region'
file_has err '^flame: .* 1,030 bytes in 1 block, region not ended: lose ' \
    'a region that does not end, ends with the process'
file_has err '^flame: .* 3,021 bytes in 3 blocks, region again: lose ' \
    'regions of one name are summed'
file_has err '^flame: .* 1,012 bytes in 1 block, region unnamed: lose ' \
    'a region without a name is unnamed'
file_has err '^flame: .* region a:b  \[31m'$'\xef\xbf\xbd'' 12: lose ' \
    "a region's hostile name has no control characters"
file_lacks err $'\033' "messages with a region's hostile name have no escape sequence"
"$FLAME" fold --view region alone.flame >region.folded
is_int "$(grep -c '^# \|^testcases;\[region ' region.folded)" "$(wc -l <region.folded)" \
    'each stack of --view region has a frame of its region'
file_has region.folded '^testcases;\[region inner\];.*;nested;lose 1002$' \
    '--view region has the stacks below the region'
file_has region.folded '^testcases;\[region outer\];.*;nested;keep 1003$' \
    'a block that outlives an inner region belongs to the outer'
file_has region.folded "^testcases;\\[region n{255}\\];.* 1013$" 'names of regions are cut at 255 bytes'
is_str "$("$FLAME" fold --view region --tid alone.flame | grep -c ';\[region ')" \
    "$(grep -c ';\[region ' region.folded)" '--view region --tid has a frame of each region'
is_str "$("$FLAME" fold --view live alone.flame | grep -c '\[region ')" 0 '--view live has no frame of a region'
is_str "$("$FLAME" dump --json --section node alone.flame | grep -c '"region":')" \
    "$("$FLAME" dump --json --section node alone.flame | grep -c '"kind": "region"')" 'dump names regions'
"$FLAME" leak -q -o page.html -- ./testcases alone >out 2>err
file_has page.html 'region inner' 'the page of flame leak has the regions'

# Leaks of a region are a row of each report, and are suppressed or in a baseline like any other leak.
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
        'leak.json with regions is valid'
else
    skip python3-jsonschema 'no python3-jsonschema'
fi
is_str "$(get l.json '[(l["bytes"], l["frames"][0]["function"], l["thread"]["name"]) for l in r["leaks"] if l.get("region") == "leaks"]')" \
    "[(1000, 'lose', 'testcases')]" "leak.json has a region's leak with its name and thread"
is_str "$(get l.json 'r["sums"]["region"]["bytes"] == sum(l["bytes"] for l in r["leaks"] if l["class"] == "region")')" \
    True 'leak.json has the sum of regions'
is_str "$(get l.json 'len({l["region"] for l in r["leaks"] if l["class"] == "region"})')" 11 \
    'leak.json has each region'
is_str "$(get l.json 'any("[region" in f["function"] for l in r["leaks"] for f in l["frames"])')" False \
    'a region is no frame in leak.json'
ok 'a directory of results has the leaks of regions' cmp -s <(get l.json '[l["bytes"] for l in r["leaks"]]') \
    <(get results/*/leak.json '[l["bytes"] for l in r["leaks"]]')
file_has l.tap '^      region: "leaks"$' 'TAP has the leaks of regions'
file_has l.tap '^  message: ".* leaked, .* left behind by regions, 0 allowed"$' "TAP's message has both sums"
file_has l.xml '1,000 bytes in 1 block, region leaks: lose ' 'JUnit has the leaks of regions'
is_int "$(get l.sarif 'sum(x["ruleId"] == "region-leak" for x in r["runs"][0]["results"])')" \
    "$(grep -c 'block[s]*, region ' l.xml)" 'SARIF has the leaks of regions'
is_str "$(get l.sarif 'all(r["runs"][0]["tool"]["driver"]["rules"][x["ruleIndex"]]["id"] == x["ruleId"] for x in r["runs"][0]["results"])')" \
    True "SARIF's leaks of regions have the index of their rule"
file_has l.github '1,000 bytes in 1 block, region leaks: lose ' 'GitHub has the leaks of regions'
is_int "$(get l.gitlab 'sum(x["check_name"] == "region-leak" for x in r)')" \
    "$(grep -c 'block[s]*, region ' l.xml)" 'GitLab has the leaks of regions'
printf 'leak:nested\n' >supp
run "$FLAME" leak --suppressions supp -o s.folded -- ./testcases alone
file_has err 'suppressed: supp:1: leak:nested' 'a suppression applies to leaks of regions'
file_lacks err 'region (inner|outer): ' 'a suppression removes regions by their stack'
file_has err 'region leaks: ' 'a suppression keeps other regions'
run_expect_status 0 'flame leak with all regions suppressed ends with status 0' \
    "$FLAME" leak --suppressions <(echo leak:testcases) -o s.folded -- ./testcases alone
run_expect_status 0 'flame leak --write-baseline of regions ends with status 0' \
    "$FLAME" leak --write-baseline base -- ./testcases alone
run_expect_status 0 'flame leak --baseline of regions ends with status 0' \
    "$FLAME" leak --baseline base -- ./testcases alone

# Only regions have leaks, as all blocks are free at the end.
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
ok 'the program that frees later is built' "${CC:-gcc}" -g -I"$ROOT" -o later later.c
run_expect_status 23 'flame leak of a block freed after its region ends with status 23' \
    "$FLAME" leak -o later.folded -- ./later
file_has later.folded '^# flame: view=region ' 'the result of a block freed after its region is --view region'
file_has later.folded ';\[region later\];.*;main 123$' \
    'the result of a block freed after its region has its stack'
run_expect_status 0 '--max-bytes allows leaks of regions' \
    "$FLAME" leak --max-bytes 123 -o later.folded -- ./later
run_expect_status 23 '--max-bytes one byte less ends with status 23' \
    "$FLAME" leak --max-bytes 122 -o later.folded -- ./later
"$FLAME" mem -q -o plain.flame -- /bin/true
run_expect_status 2 'fold --view region of a trace without regions ends with status 2' \
    "$FLAME" fold --view region plain.flame
file_has err 'recorded without a region that left anything behind' \
    'fold --view region of a trace without regions says why'

# ---- several ----

run_expect_status 23 'flame leak with too many regions ends with status 23' \
    "$FLAME" leak -q -o many.svg -- ./testcases many
is_str "$(cat out)" '1023 watched, 1200 exact
behind them: 0 0 not looked' 'regions beyond the limit are not checked, and the others stay separate'
run_expect_status 23 'flame leak of regions in threads ends with status 23' \
    "$FLAME" leak -o threads.flame -- ./testcases threads
is_str "$(cat out)" 'second: 1 2002
first: 1 2001
0 of 100 wrong
own: 1 2201
everybody: 1 2200' 'threads have their own regions, or one of all threads'
file_has err ' 2,003 bytes in 1 block, region of a thread that ends: lose ' \
    'a region of a thread that ends has its leaks'
run_expect_status 23 'flame leak of a fork in a region ends with status 23' \
    "$FLAME" leak -o fork.svg -- ./testcases fork
is_str "$(cat out)" "in the child: 0 0 not looked
child's own: 1 3003
around a fork: 1 3001" 'a fork leaves the region to the parent'
file_has err " 3,003 bytes in 1 block, region child's own: lose " 'a forked child has its own region'
run_expect_status 23 'flame leak of a region by dlsym ends with status 23' \
    "$FLAME" leak -o name.svg -- ./testcases name
is_str "$(cat out)" 'by name: 4000' 'a region by dlsym has its leaks'

# ---- effect of a scan on other threads ----

# From 2.41 on glibc's code does not show which call a thread is about to make, and such a call is cut
# short now and then (preload/leak/stop_the_world.c); a real error would occur each time.
want='300 signals, no more calls ended by them, 0 others cut short'
libc=$(getconf GNU_LIBC_VERSION)
no_call_cut_short() {
    run_expect_status 0 'flame leak of threads in calls ends with status 0' \
        timeout 200 "$FLAME" leak -q -- ./testcases calls
    [ "${libc##*.}" -lt 41 ] || [ "$(cat out)" = "$want" ]
}
again 5 no_call_cut_short
is_str "$(cat out)" "$want" \
    "threads in calls get all signals, and no EINTR of flame's"
run_expect_status 0 'flame leak of timers that end calls ends with status 0' \
    timeout 200 "$FLAME" leak -q -- ./testcases timers
is_str "$(cat out)" '200 calls ended' "a timer's signal ends each call during a scan"

done_testing
