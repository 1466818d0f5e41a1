#!/bin/bash
# flame render -f html: the contents of the file; tests/browser/t056* test the page.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/pagedata.sh"

cat >in.folded <<'END_FOLDED'
# flame: view=live unit=bytes
main;read;parse 300
main;read 100
main;write_[k] 200
END_FOLDED

# Prints the data block, decoded: one "path;of;names N" a stack
# and column.
cat >unpack.py <<'END_PY'
from pagedata import data, numbers, paths, signed
assert len(paths) == data["nodes"], (len(paths), data["nodes"])
for c in data["columns"]:
    own, at, lines = numbers(c["own"]), 0, []
    for gap in own:
        at += gap
        n = next(own)
        if c["fractions"]:
            n = f"{n}.{next(own):06}"
        lines.append(f"{c['name']} {';'.join(paths[at])} {n} {c['unit']}")
    print("\n".join(sorted(lines)))
if "delta" in data:
    delta, at = numbers(data["delta"]), 0
    for gap in delta:
        at += gap
        v = next(delta)
        print("delta", ";".join(paths[at]), signed(v), data["deltaScale"])
END_PY

run_expect_status 0 'render -f html succeeds' "$FLAME" render -f html in.folded
is_str "$(cat err)" '' 'render -f html prints nothing on standard error'
cp out page.html
is_str "$(python3 unpack.py page.html)" 'live main;read 100 bytes
live main;read;parse 300 bytes
live main;write_[k] 200 bytes' 'the page has each stack'
file_has page.html '<title>Memory live at the end</title>' 'the page has the title'
file_has page.html "default-src 'none'" "the page's policy forbids loading"
file_lacks page.html '(https?:|src=|@import|url\()' 'the page loads nothing'
run "$FLAME" render -f html in.folded
ok 'render -f html of the same input gives the same bytes' cmp out page.html
run_expect_status 0 'render -o o.html succeeds' "$FLAME" render -o o.html in.folded
ok 'render -o o.html writes the same page' cmp o.html page.html

cat >columns.folded <<'END_FOLDED'
# flame: view=alloc unit=bytes
m;f 3000
m;g 1000
# flame: view=count unit=calls
m;f 3
m;h 5
# flame: view=alloc unit=bytes
m;f 1
END_FOLDED
run_expect_status 0 'render -f html of several views succeeds' "$FLAME" render -f html columns.folded
is_str "$(cat err)" '' 'render -f html of several views prints nothing on standard error'
is_str "$(python3 unpack.py out)" 'alloc m;f 3001 bytes
alloc m;g 1000 bytes
count m;f 3 calls
count m;h 5 calls' 'several views are columns of the page'
run "$FLAME" render columns.folded
file_has err 'view is count here and alloc before' 'render of several views as a picture warns'

# Moments: one for each file, or those in the text.
times() {
    grep -o '^"time":[^,]*' out | cut -d: -f2 | tr '\n' ' '
}
printf '# flame: view=live unit=bytes\nm;f 3\n' >first
printf '# flame: view=live unit=bytes\nm;f 5\nm;g 1\n' >second
printf 'm;h 7\n' >third
run_expect_status 0 'render -f html --series succeeds' "$FLAME" render -f html --series first second third
is_str "$(times)" '0 1 2 ' '--series: each file is a moment'
is_str "$(python3 unpack.py out)" 'live m;f 3 bytes
live m;f 5 bytes
live m;g 1 bytes
 m;h 7 bytes' '--series: each moment has its own counts'
run "$FLAME" render -f html first second
is_str "$(times)$(python3 unpack.py out)" 'live m;f 8 bytes
live m;g 1 bytes' 'without --series files are summed'
run_expect_status 0 'render --series as a picture succeeds' "$FLAME" render --series first second
file_has out '<title>f \(8 bytes' '--series as a picture sums the moments'
printf '# flame: view=cpu time=2.5\na 1\n# flame: view=cpu time=-1e1\na 2\n# flame: view=cpu time=2.5\na 4\n' >timed
run "$FLAME" render -f html timed
is_str "$(times)" '2.5 -10 ' 'times in the text are moments'
is_str "$(python3 unpack.py out)" 'cpu a 5 samples
cpu a 2 samples' 'a time that occurs again is the same moment'
run "$FLAME" render -f html --series first timed
is_str "$(times)" '0 2.5 -10 ' 'times in the text precede the order of files'
for bad in nan inf 1e999 '' 5x "$(printf '%070d' 1)"; do
    printf '# flame: view=cpu time=%s\na 1\n' "$bad" >wrong
    run_expect_status 0 "a time of '$bad' succeeds" "$FLAME" render -f html wrong
    [ -z "$bad" ] || file_has err 'not a number of seconds' "a time of '$bad' is reported as no number"
    is_str "$(times)" '' "a time of '$bad' is ignored"
done
python3 -c 'for i in range(5000): print(f"# flame: view=v time={i} x=y\na 1")' >many
run_expect_status 2 'five thousand moments end with status 2' "$FLAME" render -f html -o many.html many
file_has err 'many:8193: more than 4096 views and moments' 'five thousand moments are reported with the line'
ok 'five thousand moments write no page' test ! -e many.html

printf 'a;b 1.5\na;c 2\n' >fractions
run "$FLAME" render -f html fractions
is_str "$(python3 unpack.py out)" ' a;b 1.500000 samples
 a;c 2.000000 samples' 'the page has fractions'
printf 'a;b 10 30\na;c 5 0\na;d 7 7\n' >two.folded
run "$FLAME" render -f html two.folded
is_str "$(python3 unpack.py out)" ' a;b 30 samples
 a;d 7 samples
delta a;b 20 1
delta a;c -5 1' 'the page has the columns of a comparison'
printf 'a;b;c 3\na;c 1\n' >stacks
run "$FLAME" render -f html --reverse stacks
file_has out '"reverse":true' 'the page of --reverse has that as an option'
is_str "$(python3 unpack.py out)" ' a;b;c 3 samples
 a;c 1 samples' 'the page of --reverse keeps the stacks'
run "$FLAME" render -f html --countname bytes --title '</script>' stacks
file_has out '"title":"\\u003c/script\\u003e"' '--title is in the page, escaped'
file_has out '"unit":"bytes"' '--countname is in the page'
python3 -c 'print("main;" + "x" * 1000000 + ";leaf 5")' >long
run_expect_status 0 'render -f html of a name of a megabyte succeeds' "$FLAME" render -f html long
ok 'a name of a megabyte is truncated in the page' test "$(wc -c <out)" -lt 600000
python3 -c 'print("f;" * 100000 + "leaf 5")' >deep
run_expect_status 0 'render -f html of a stack of 100,000 frames succeeds' "$FLAME" render -f html deep
file_has out '"nodes":100002,' 'a stack of 100,000 frames is complete in the page'
printf '# flame: view=live unit=bytes\n' >nothing
run_expect_status 0 'render -o no.html of an empty view succeeds' "$FLAME" render -f html -o no.html nothing
file_has no.html '"subtitle":"the live view is empty"' 'the page of an empty view says so'

cat >app.c <<'END_C'
#include <stdlib.h>
int main(void)
{
    char *volatile p = malloc(5000);
    free(p);
    p = malloc(700);
    return !p;
}
END_C
if ! "${CC:-gcc}" -O1 -g -o app app.c; then
    test_fail 'app is built'
    done_testing
fi
FLAMEMEM_OPTIONS=out=t.flame:quiet=1 LD_PRELOAD=$SHIM ./app
run_expect_status 0 'render -f html of a trace succeeds' "$FLAME" render -f html t.flame
for view in alloc count live peak temp; do
    ok "the page of a trace has the view $view" sh -c "python3 unpack.py out | grep -q '^$view .*main'"
done
python3 unpack.py out >all
for view in alloc count live peak temp; do
    "$FLAME" fold --lines --no-header --view "$view" t.flame | LC_ALL=C sort >one
    is_str "$(sed -n "s/^$view \(.*\) [a-z]*$/\1/p" all | LC_ALL=C sort)" "$(cat one)" \
        "the page's view $view equals fold --lines"
done
ok 'the page of a trace has lines' grep -q 'main app\.c:4' all
run "$FLAME" mem -o run.html ./app
python3 unpack.py run.html | sed 's/^\([a-z]* \)[^;]*/\1/' | grep main >page
sed 's/^\([a-z]* \)[^;]*/\1/' all | grep main >trace
ok 'flame mem -o run.html draws the page of render' cmp page trace
file_has err 'all views in run\.html' 'flame mem -o run.html names the page'
run_expect_status 0 'render -f html --view live succeeds' "$FLAME" render -f html --view live t.flame
is_str "$(python3 unpack.py out | cut -d' ' -f1 | sort -u)" live \
    'render -f html --view live has that view alone'

done_testing
