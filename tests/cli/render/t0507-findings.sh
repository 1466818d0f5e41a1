#!/bin/bash
# Findings of folded text: in the page, in the picture with links, as text; with hostile
# names, of empty profiles, and with --no-findings.
. "${0%/*}/../lib.sh"

{
    echo '# flame: view=peak unit=bytes'
    echo 'app;main;load;parse p.c:12;xmalloc x.c:3;malloc 3145728'
    echo 'app;main;load;parse p.c:14;malloc 1048576'
    echo 'app;main;emit 1048576'
    for i in $(seq 60); do echo "app;main;rest;f$i 1024"; done
} >peak
run_expect_status 0 'render -f findings succeeds' "$FLAME" render -f findings peak
is_str "$(cat out)" 'parse (p.c:12) holds most at the peak: 4.00 MiB of 5.06 MiB (79.07%)
    peak app;main;load;parse p.c:12
Three stacks of 63 are 98.84% of all bytes, 5.00 MiB: the largest ends in parse (p.c:12)
    peak app;main' 'render -f findings prints findings with their stacks'
is_str "$(cat err)" '' 'render -f findings prints nothing on standard error'
run "$FLAME" render -f findings --focus load peak
is_str "$(sed -n 1p out)" 'parse (p.c:12) holds most at the peak: 4.00 MiB of 4.00 MiB (100.00%)' \
    'findings with --focus are of the remaining stacks'
run "$FLAME" render -f findings --wrapper parse peak
is_str "$(sed -n 1p out)" 'load holds most at the peak: 4.00 MiB of 5.06 MiB (79.07%)' \
    'findings with --wrapper name the caller'
run "$FLAME" render -f findings --factor 2 peak
is_str "$(sed -n 1p out)" 'parse (p.c:12) holds most at the peak: 8.00 MiB of 10.12 MiB (79.07%)' \
    'findings with --factor have scaled counts'
run "$FLAME" render -o x.findings peak
like "$(cat x.findings)" '^parse ' 'render -o x.findings writes findings'

run "$FLAME" render -o out.svg peak
file_has out.svg '<a href="#p=app%3Bmain%3Bload%3Bparse%20p.c%3A12"><title>parse \(p.c:12\) holds most' \
    'the picture has a link of a finding'
is_int "$(grep -c '<a href=' out.svg)" 2 'the picture has a link of each finding'
run "$FLAME" render -o plain.svg --no-findings peak
file_lacks plain.svg '<a |holds most' 'the picture with --no-findings has none'
is_str "$(sed '/<g id="findings"/,/<\/g>/d' out.svg | grep -o '<g data-x=[^>]*><title>[^<]*' | md5sum)" \
    "$(grep -o '<g data-x=[^>]*><title>[^<]*' plain.svg | md5sum)" \
    'frames are the same with and without findings'
is_str "$(head -c 300 plain.svg | grep -o ' height="[0-9.]*"')" \
    "$("$FLAME" render --reverse peak | head -c 300 | grep -o ' height="[0-9.]*"')" \
    'the picture without findings has no room for them'
for how in --reverse --flamechart; do
    run "$FLAME" render "$how" -o other.svg peak
    file_lacks other.svg '<a ' "a picture with $how has no findings"
done
run "$FLAME" render -o out.html peak
file_has out.html '^"findings":\[$' 'the page has findings'
run "$FLAME" render --no-findings -o out.html peak
file_lacks out.html '^"findings":\[' 'the page with --no-findings has none'

# Hostile names.
printf 'a;</a></title><script>alert(1)</script>;x"y&z 7\na;\033[31mred\302\205\342\200\256gnp\377 9\n' >hostile
run_expect_status 0 'render of findings with hostile names succeeds' "$FLAME" render -o hostile.svg hostile
ok 'the picture of findings with hostile names is well-formed' \
    python3 -c 'import xml.dom.minidom as m; d = m.parse("hostile.svg")
assert all(a.parentNode.getAttribute("id") == "findings" for a in d.getElementsByTagName("a"))
assert len(d.getElementsByTagName("script")) == 1
assert d.getElementsByTagName("a")[0].getAttribute("href").startswith("#x=")'
run_expect_status 0 'render -o hostile.html of findings succeeds' "$FLAME" render -o hostile.html hostile
ok 'a hostile name in the page is a string' python3 -c 'import json, re
t = open("hostile.html").read()
d = json.loads(re.search("(?s)<script id=.profile. type=.application/json.>(.*?)</script>", t).group(1))
assert len(d["findings"]) == 1 and "red" in d["findings"][0]["text"], d["findings"]'
run "$FLAME" render -f findings hostile
not_ok 'findings with hostile names print no raw control characters' \
    grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out
ok 'findings with hostile names are UTF-8' iconv -f UTF-8 -t UTF-8 out
python3 -c 'print("a;" + "n" * 200000 + ";b 5\n" + "deep;" * 50000 + "end 6")' >long
run_expect_status 0 'render of long names and deep stacks succeeds' "$FLAME" render -o long.svg long
file_has long.svg '<a href="#x=[0-9]+&amp;y=[0-9]+"><title>end takes most itself' \
    'a finding of a long stack links by position'
ok 'a finding of a long name is truncated' test "$(grep -o '<a href=[^>]*>.*</a>' long.svg | wc -c)" -lt 4000

# Empty profiles, and one stack.
run "$FLAME" render -f findings /dev/null
is_str "$(cat out)" '' 'an empty profile has no findings'
echo 'one 1' >one
run_expect_status 0 'render -f findings of one stack succeeds' "$FLAME" render -f findings one
is_str "$(sed -n 1p out)" 'one takes most itself: 1 of 1 sample (100.00%)' \
    'render -f findings of one stack names it'

# Two runs.
printf 'a;f 1000 5000\na;g 1000 2000\na;h 3000 2500\n' >two
run "$FLAME" render -f findings two
like "$(sed -n 1p out)" '^f grew by 4,000 samples, 80.00% of what grew; in all from 5,000 samples to 9,500 samples$' \
    'a comparison has a finding of the largest growth'
for widths in after before either elided; do
    run "$FLAME" render --widths "$widths" -o two.svg two
    file_has two.svg '<title>f grew by 4,000 samples, 80.00%' "the finding of growth does not depend on --widths $widths"
done

done_testing
