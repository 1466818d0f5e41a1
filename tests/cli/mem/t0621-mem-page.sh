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
run_expect_status 0 'render of a trace with moments succeeds' "$FLAME" render -o x.html x.flame
is_str "$(cat err)" '' 'render of a trace with moments prints nothing'
like "$(page x.html)" '^all 10000 0 rss,live stage_a 10000,all 20000 0 rss,live stage_a 10000,live stage_b 10000,all 18500 0 rss,live stage_a 11000,live stage_b 7500,all 18500 1048576 rss,live stage_a 11000,live stage_b 7500,mmap [^,]* 1048576,all ' \
    'the page has the live and mapped bytes of each moment'
python3 moments.py x.html | awk '$2 == "all" { print $1 }' | while read -r time; do
    "$FLAME" fold --at "$time" x.flame 2>/dev/null | sed -n 's/^[^#].*;\([a-z_]*\) \([0-9]*\)$/live \1 \2/p' >at.folded
    python3 moments.py x.html | sed -n "s/^$time \\(live .*\\)/\\1/p" >shown
    cmp -s at.folded shown || echo "$time"
done >differ
is_str "$(cat differ)" '' 'the page agrees with flame fold --at for each moment'
run_expect_status 0 'render --at -o at.html succeeds' "$FLAME" render --at 1000 -o at.html x.flame
run_expect_status 1 'the page of one moment has no timeline' python3 moments.py at.html
run_expect_status 0 'render --flamechart -o chart.html succeeds' \
    "$FLAME" render --flamechart -o chart.html x.flame
run_expect_status 1 'a flame chart has no timeline' python3 moments.py chart.html
run_expect_status 0 'render -o x.svg of a trace with moments succeeds' \
    "$FLAME" render --view live -o x.svg x.flame
file_lacks x.svg 'changes=' 'a picture has no timeline'
run_expect_status 0 'render --grep-v of a trace with moments succeeds' \
    "$FLAME" render --grep-v stage_b -o drop.html x.flame
like "$(page drop.html)" '^all 10000 0 rss,live stage_a 10000,all 20000 0 rss,live stage_a 10000,all 18500' \
    '--grep-v filters the stacks of all moments, but not the totals'
"$FLAME" mem -o y.flame true 2>err
run_expect_status 0 'render of a trace without moments succeeds' "$FLAME" render -o y.html y.flame
run_expect_status 1 'the page of a trace without moments has no timeline' python3 moments.py y.html
file_lacks y.html '"history":"' 'the page of a trace without moments has no data of one'

begin page mem --moments=USR1 -o p.html
four_moments
is_int "$status" 0 "flame mem --moments -o p.html ends with the command's status"
like "$(page p.html)" '^all 10000 0 rss,live stage_a 10000,all 20000 0 rss,live stage_a 10000,live stage_b 10000,all 18500 0 rss,live stage_a 11000,live stage_b 7500,all 18500 1048576 rss,' \
    'the page of flame mem --moments has the same moments'
is_str "$(ls tmp)" '' 'flame mem --moments -o p.html leaves no file in TMPDIR'

begin several mem --moments=USR1 -o s.html
stage a 5
moment
stage k
moment 2
finish
like "$(page s.html)" 'all 5000 0 rss,live stage_a 5000.*all 5700 0 rss' \
    'the page of several processes has the sum of their moments'

# ---- by default, with marks ----

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
# On a busy machine a short program may end before the first moment.
for pause in 1000 4000 16000; do
    run_expect_status 0 'flame mem -o m.html of a program with marks succeeds' \
        "$FLAME" mem -q -o m.html ./marks $pause
    python3 moments.py m.html >m.moments
    [ "$(grep -c ' all ' m.moments)" -lt 3 ] || break
done
is_str "$(grep '^mark' m.moments)" 'mark begin
mark <late> "one"' 'the page has the marks of the program'
is_str "$(awk '$2 == "all" { last = $3 } END { print last }' m.moments)" 300000 \
    'the page has moments up to the end without --moments'
ok 'the page has several moments without --moments' test "$(grep -c ' all ' m.moments)" -ge 3
run_expect_status 0 'flame mem -o m.svg of a program with marks succeeds' "$FLAME" mem -q -o m.svg ./marks
run_expect_status 0 'flame mem -o m.flame of a program with marks succeeds' "$FLAME" mem -q -o m.flame ./marks
is_str "$("$FLAME" dump -s moment m.flame)" '' 'a trace without --moments has no moments'
run_expect_status 0 'render of a trace without --moments succeeds' "$FLAME" render -o n.html m.flame
run_expect_status 1 'the page of a trace without --moments has no timeline' python3 moments.py n.html

begin run run --moments=USR1 -o r.html
stage a 5
moment
finish
like "$(page r.html)" '^all 5000 0 rss,live stage_a 5000' 'the page of flame run --moments has the moments'
done_testing
