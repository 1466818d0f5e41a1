#!/bin/bash
# Sentences of what folded text says: in the page, in the picture with links, as text; of anybody's
# names, of nothing, and not where they are not wanted.
. "${0%/*}/../lib.sh"

{
    echo '# flame: view=peak unit=bytes'
    echo 'app;main;load;parse p.c:12;xmalloc x.c:3;malloc 3145728'
    echo 'app;main;load;parse p.c:14;malloc 1048576'
    echo 'app;main;emit 1048576'
    for i in $(seq 60); do echo "app;main;rest;f$i 1024"; done
} >peak
run_expect_status 0 'as text' "$FLAME" render -f findings peak
is_str "$(cat out)" 'parse (p.c:12) holds most at the peak: 4.00 MiB of 5.06 MiB (79.07%)
    peak app;main;load;parse p.c:12
Three stacks of 63 are 98.84% of all bytes, 5.00 MiB: the largest ends in parse (p.c:12)
    peak app;main' 'a sentence, and where that is'
is_str "$(cat err)" '' 'and nothing else'
run "$FLAME" render -f findings --focus load peak
is_str "$(sed -n 1p out)" 'parse (p.c:12) holds most at the peak: 4.00 MiB of 4.00 MiB (100.00%)' \
    'of what filters leave'
run "$FLAME" render -f findings --wrapper parse peak
is_str "$(sed -n 1p out)" 'load holds most at the peak: 4.00 MiB of 5.06 MiB (79.07%)' 'with wrappers that are named'
run "$FLAME" render -f findings --factor 2 peak
is_str "$(sed -n 1p out)" 'parse (p.c:12) holds most at the peak: 8.00 MiB of 10.12 MiB (79.07%)' 'times a factor'
run "$FLAME" render -o x.findings peak
like "$(cat x.findings)" '^parse ' 'a file may end in it'

run "$FLAME" render -o out.svg peak
file_has out.svg '<a href="#p=app%3Bmain%3Bload%3Bparse%20p.c%3A12"><title>parse \(p.c:12\) holds most' 'a link in the picture'
is_int "$(grep -c '<a href=' out.svg)" 2 'each one'
run "$FLAME" render -o plain.svg --no-findings peak
file_lacks plain.svg '<a |holds most' 'not in the picture with --no-findings'
is_str "$(sed '/<g id="findings"/,/<\/g>/d' out.svg | grep -o '<g data-x=[^>]*><title>[^<]*' | md5sum)" \
    "$(grep -o '<g data-x=[^>]*><title>[^<]*' plain.svg | md5sum)" 'frames are the same with and without'
is_str "$(head -c 300 plain.svg | grep -o ' height="[0-9.]*"')" \
    "$("$FLAME" render --reverse peak | head -c 300 | grep -o ' height="[0-9.]*"')" \
    'nor is there room for any where there are none'
for how in --reverse --flamechart; do
    run "$FLAME" render "$how" -o other.svg peak
    file_lacks other.svg '<a ' "none in a picture that is $how"
done
run "$FLAME" render -o out.html peak
file_has out.html '^"findings":\[$' 'in the page'
run "$FLAME" render --no-findings -o out.html peak
file_lacks out.html '^"findings":\[' 'not with --no-findings'

# Names are anybody's.
printf 'a;</a></title><script>alert(1)</script>;x"y&z 7\na;\033[31mred\302\205\342\200\256gnp\377 9\n' >hostile
run_expect_status 0 'hostile names' "$FLAME" render -o hostile.svg hostile
ok 'are well-formed' python3 -c 'import xml.dom.minidom as m; d = m.parse("hostile.svg")
assert all(a.parentNode.getAttribute("id") == "findings" for a in d.getElementsByTagName("a"))
assert len(d.getElementsByTagName("script")) == 1
assert d.getElementsByTagName("a")[0].getAttribute("href").startswith("#x=")'
run_expect_status 0 'in a page' "$FLAME" render -o hostile.html hostile
ok 'are a string' python3 -c 'import json, re
t = open("hostile.html").read()
d = json.loads(re.search("(?s)<script id=.profile. type=.application/json.>(.*?)</script>", t).group(1))
assert len(d["findings"]) == 1 and "red" in d["findings"][0]["text"], d["findings"]'
run "$FLAME" render -f findings hostile
not_ok 'as text nothing that a terminal would obey' grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80\xae' out
ok 'and it is UTF-8' iconv -f UTF-8 -t UTF-8 out
python3 -c 'print("a;" + "n" * 200000 + ";b 5\n" + "deep;" * 50000 + "end 6")' >long
run_expect_status 0 'long names and deep stacks' "$FLAME" render -o long.svg long
file_has long.svg '<a href="#x=[0-9]+&amp;y=[0-9]+"><title>end takes most itself' 'are found by their place'
ok 'and cut' test "$(grep -o '<a href=[^>]*>.*</a>' long.svg | wc -c)" -lt 4000

# Nothing, and next to nothing.
run "$FLAME" render -f findings /dev/null
is_str "$(cat out)" '' 'of nothing there is nothing to say'
echo 'one 1' >one
run_expect_status 0 'one stack' "$FLAME" render -f findings one
is_str "$(sed -n 1p out)" 'one takes most itself: 1 of 1 sample (100.00%)' 'is what there is'

# Two runs.
printf 'a;f 1000 5000\na;g 1000 2000\na;h 3000 2500\n' >two
run "$FLAME" render -f findings two
like "$(sed -n 1p out)" '^f grew by 4,000 samples, 80.00% of what grew; in all from 5,000 samples to 9,500 samples$' \
    'what grew, and how much of all'
for widths in after before either elided; do
    run "$FLAME" render --widths "$widths" -o two.svg two
    file_has two.svg '<title>f grew by 4,000 samples, 80.00%' "as it is, whatever --widths $widths shows"
done

done_testing
