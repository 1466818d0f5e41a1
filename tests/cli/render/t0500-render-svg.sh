#!/bin/bash
# flame render: what stands in the SVG, for each option.
. "${0%/*}/../lib.sh"

cat >in.folded <<'END'
main;read;parse 300
main;read 100
main;write_[k] 200
main;write_[k];--;wake_[w] 50
END

run_expect_status 0 'a file to standard output' "$FLAME" render in.folded
cp out first.svg
is_str "$(cat err)" '' 'nothing is said'
ok 'it is well-formed XML' python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' first.svg
for id in background title subtitle details unzoom search ignorecase matched frames; do
    [ "$id" = subtitle ] || file_has first.svg "id=\"$id\"" "there is #$id"
done
file_has first.svg '<title>main \(650 samples, 100\.00%\)</title>' 'the tooltip of main'
file_has first.svg '<title>parse \(300 samples, 46\.15%\)</title>' 'the tooltip of parse'
file_has first.svg '<title>write \(250 samples, 38\.46%\)</title>' 'a mark is not shown'
file_lacks first.svg '_\[k\]' 'nowhere'
is_int "$(grep -c '<g data-x=' first.svg)" 7 'one <g> a frame'
is_int "$(grep -Ec '<g data-x="[0-9]+" data-w="[0-9]+" data-d="[0-9]+"( data-c="a")?><title>[^<]*</title><rect [^<]*/><text( [^<]*>[^<]*</text|/)></g>$' first.svg)" \
    7 'each with title, rect and text'
file_has first.svg '<svg width="1200"' '1200 pixels wide'
file_has first.svg '>Flame Graph</text>' 'the default title'
file_lacks first.svg '(href="[^#]|src|url\(["'"'"']?[a-z]+:|@import)' 'it loads nothing'

run "$FLAME" render in.folded
ok 'the same input gives the same bytes' cmp out first.svg
run "$FLAME" render <in.folded
ok 'standard input does too' cmp out first.svg
run "$FLAME" render - <in.folded
ok "and '-'" cmp out first.svg
sort -r in.folded >reversed.folded
run "$FLAME" render reversed.folded
ok 'so does another order of the lines' cmp out first.svg
sed 's/$/\r/' in.folded >crlf.folded
run "$FLAME" render crlf.folded
ok 'and CRLF' cmp out first.svg
run_expect_status 0 'to a file' "$FLAME" render -o o.svg in.folded
ok 'the same' cmp o.svg first.svg
is_str "$(cat out)" '' 'and nothing on standard output'

draw() {
    run "$FLAME" render "$@" in.folded
    [ "$status" -eq 0 ] || test_fail "render $*" "$(cat err)"
}

draw --title 'A & <B>' --subtitle 'of "C"'
file_has out '>A &amp; &lt;B&gt;</text>' '--title'
file_has out 'id="subtitle".*>of &quot;C&quot;</text>' '--subtitle'
draw --width 640
file_has out '<svg width="640"' '--width'
file_has out 'data-fluid="0"' 'is fixed'
draw --height 30
file_has out '<rect [^>]*height="29"' '--height'
draw --minwidth 10%
file_lacks out '<title>wake' '--minwidth in percent'
file_has out '<title>read' 'keeps the rest'
draw --minwidth 100
file_lacks out '<title>wake' '--minwidth in pixels'
draw --countname 'ca<ts'
file_has out '\(650 ca&lt;ts, 100\.00%\)' '--countname'
draw --countname bytes
file_has out '\(650 bytes, 100\.00%\)' 'bytes'
draw --nametype 'Frame"'
file_has out 'data-nametype="Frame&quot;"' '--nametype'
draw --colors io
ok '--colors changes the picture' test "$(grep -o 'fill="#[^"]*"' out | head -9 | sort)" != \
    "$(grep -o 'fill="#[^"]*"' first.svg | head -9 | sort)"
draw --hash
ok '--hash changes the picture' test "$(cat out)" != "$(cat first.svg)"
draw --reverse
file_has out 'data-d="1"><title>parse \(300 samples' '--reverse has leaves at the root'
draw --inverted
file_has out '>Icicle Graph</text>' '--inverted names itself'
root=$(grep -o '<title>all .*y="[0-9.]*" w' out | sed 's/.* y="\([0-9.]*\)".*/\1/')
leaf=$(grep -o '<title>parse .*y="[0-9.]*" w' out | sed 's/.* y="\([0-9.]*\)".*/\1/')
ok 'and has the root above' test "$root" -lt "$leaf"
draw --fonttype 'Comic"Sans' --fontsize 20
file_has out 'id="frames" font-family="Comic&quot;Sans" font-size="20"' '--fonttype, --fontsize'

for palette in hot mem io java js perl python rust wakeup chain red green blue aqua yellow purple orange; do
    ok "palette $palette" "$FLAME" render --colors "$palette" in.folded
done

done_testing
