#!/bin/bash
# Live blocks over time in a page: the same as flame fold --at prints for each moment, from a trace
# and from flame mem itself, of one process and of several.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/moments.sh"
. "$ROOT/tests/cli/pagedata.sh"

# moments.py FILE: "TIME live mapped" and then "TIME view stack bytes" of each moment of a page.
cat >moments.py <<'END_PY'
import sys
from pagedata import data, numbers, paths, signed
def sums(packed):
    s = 0
    for v in numbers(packed):
        s += signed(v)
        yield s
if "moments" not in data:
    sys.exit("no moments")
m = data["moments"]
times, live, mapped, rss = (list(sums(m[k])) for k in ("us", "live", "mapped", "rss"))
had = [{} for _ in times]
for c in data["columns"]:
    own, at = numbers(c.get("history", "")), 0
    for gap in own:
        at += gap
        when = level = 0
        changes = []
        for _ in range(next(own)):
            when += next(own)
            level += signed(next(own))
            changes.append((when, level))
        for i in range(len(times)):
            now = [v for w, v in changes if w <= i]
            if now and now[-1]:
                # The text behind the name is its place.
                leaf = paths[at][-1].split(" ")[0]
                had[i][c["name"], leaf] = had[i].get((c["name"], leaf), 0) + now[-1]
for i, us in enumerate(times):
    print("%.6f" % (us / 1e6), "all", live[i], mapped[i], "rss" if rss[i] > 100000 else "")
    for (view, leaf), v in sorted(had[i].items()):
        print("%.6f" % (us / 1e6), view, leaf, v)
for us, name in m["marks"]:
    print("mark", name)
END_PY
page() {
    python3 moments.py "$1" | sed 's/^[0-9.]* //; s/ $//' | tr '\n' ',' | sed 's/,$//'
}

begin rec mem --moments=USR1 -o x.flame
four_moments
run_expect_status 0 'a trace with moments' "$FLAME" render -o x.html x.flame
is_str "$(cat err)" '' 'becomes a page'
like "$(page x.html)" '^all 10000 0 rss,live stage_a 10000,all 20000 0 rss,live stage_a 10000,live stage_b 10000,all 18500 0 rss,live stage_a 11000,live stage_b 7500,all 18500 1048576 rss,live stage_a 11000,live stage_b 7500,mmap [^,]* 1048576,all ' \
    'with what was live and mapped at each'
python3 moments.py x.html | awk '$2 == "all" { print $1 }' | while read -r time; do
    "$FLAME" fold --at "$time" x.flame 2>/dev/null | sed -n 's/^[^#].*;\([a-z_]*\) \([0-9]*\)$/live \1 \2/p' >at.folded
    python3 moments.py x.html | sed -n "s/^$time \\(live .*\\)/\\1/p" >shown
    cmp -s at.folded shown || echo "$time"
done >differ
is_str "$(cat differ)" '' 'which is what flame fold --at says'
run_expect_status 0 'a page of a moment' "$FLAME" render --at 1000 -o at.html x.flame
run_expect_status 1 'has no others' python3 moments.py at.html
run_expect_status 0 'a flame chart' "$FLAME" render --flamechart -o chart.html x.flame
run_expect_status 1 'has none' python3 moments.py chart.html
run_expect_status 0 'a picture' "$FLAME" render --view live -o x.svg x.flame
file_lacks x.svg 'changes=' 'neither'
run_expect_status 0 'a filter' "$FLAME" render --grep-v stage_b -o drop.html x.flame
like "$(page drop.html)" '^all 10000 0 rss,live stage_a 10000,all 20000 0 rss,live stage_a 10000,all 18500' \
    'leaves out what it leaves out at all moments, and the lines are of the whole'
"$FLAME" mem -o y.flame true 2>err
run_expect_status 0 'a trace without moments' "$FLAME" render -o y.html y.flame
run_expect_status 1 'makes a page without' python3 moments.py y.html
file_lacks y.html '"history":"' 'any'

begin page mem --moments=USR1 -o p.html
four_moments
is_int "$status" 0 'flame mem makes the page at once'
like "$(page p.html)" '^all 10000 0 rss,live stage_a 10000,all 20000 0 rss,live stage_a 10000,live stage_b 10000,all 18500 0 rss,live stage_a 11000,live stage_b 7500,all 18500 1048576 rss,' \
    'with the same moments'
is_str "$(ls tmp)" '' 'nothing is left behind'

begin several mem --moments=USR1 -o s.html
stage a 5
moment
stage k
moment 2
finish
like "$(page s.html)" 'all 5000 0 rss,live stage_a 5000.*all 5700 0 rss' 'of several processes what they have together'

# ---- without being asked, with marks, of a process that runs already ----

cat >marks.c <<'END_C'
#include <flamemem.h>
#include <stdlib.h>
#include <unistd.h>
static void *volatile kept[300];
int main(int argc, char **argv)
{
    flamemem_mark("begin");
    for (int i = 0; i < 300; i++) {
        kept[i] = malloc(1000);
        if (i == 200)
            flamemem_mark("<late> \"one\"");
        usleep(argc > 1 ? (unsigned)atoi(argv[1]) : 1000);
    }
    return 0;
}
END_C
"${CC:-cc}" -O1 -I"$ROOT/preload" -o marks marks.c
# A busy machine may not look while a program runs that is soon over.
for pause in 1000 4000 16000; do
    run_expect_status 0 'a page' "$FLAME" mem -q -o m.html ./marks $pause
    python3 moments.py m.html >m.moments
    [ "$(grep -c ' all ' m.moments)" -lt 3 ] || break
done
is_str "$(grep '^mark' m.moments)" 'mark begin
mark <late> "one"' 'has the marks of the program'
is_str "$(awk '$2 == "all" { last = $3 } END { print last }' m.moments)" 300000 'and moments up to the end'
ok 'several' test "$(grep -c ' all ' m.moments)" -ge 3
run_expect_status 0 'a picture' "$FLAME" mem -q -o m.svg ./marks
run_expect_status 0 'a trace' "$FLAME" mem -q -o m.flame ./marks
is_str "$("$FLAME" dump -s moment m.flame)" '' 'has none that nobody asked for'
run_expect_status 0 'its page' "$FLAME" render -o n.html m.flame
run_expect_status 1 'neither' python3 moments.py n.html

begin run run --moments=USR1 -o r.html
stage a 5
moment
finish
like "$(page r.html)" '^all 5000 0 rss,live stage_a 5000' 'flame run does, too'
done_testing
