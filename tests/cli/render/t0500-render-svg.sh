#!/bin/bash
# flame render: the contents of the SVG, for each option.
. "${0%/*}/../lib.sh"

cat >in.folded <<'END'
main;read;parse 300
main;read 100
main;write_[k] 200
main;write_[k];--;wake_[w] 50
END

run_expect_status 0 'render of a file succeeds' "$FLAME" render in.folded
cp out first.svg
is_str "$(cat err)" '' 'render of a file prints nothing on standard error'
ok 'render writes well-formed XML' python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' first.svg
for id in background title subtitle details unzoom search ignorecase matched frames; do
    [ "$id" = subtitle ] || file_has first.svg "id=\"$id\"" "the SVG has #$id"
done
file_has first.svg '<title>main \(650 samples, 100\.00%\)</title>' 'the tooltip of main has samples and percent'
file_has first.svg '<title>parse \(300 samples, 46\.15%\)</title>' \
    'the tooltip of parse has samples and percent'
file_has first.svg '<title>write \(250 samples, 38\.46%\)</title>' \
    'the tooltip of a kernel frame has no annotation'
file_lacks first.svg '_\[k\]' 'the SVG has no annotation of kernel frames'
is_int "$(grep -c '<g data-x=' first.svg)" 7 'the SVG has one <g> a frame'
is_int "$(grep -Ec '<g data-x="[0-9]+" data-w="[0-9]+" data-d="[0-9]+"( data-c="a")?><title>[^<]*</title><rect [^<]*/><text( [^<]*>[^<]*</text|/)></g>$' first.svg)" \
    7 'each <g> has title, rect and text'
file_has first.svg '<svg width="1200"' 'the SVG is 1200 pixels wide'
file_has first.svg '>Flame Graph</text>' 'the SVG has the default title'
file_lacks first.svg '(href="[^#]|src|url\(["'"'"']?[a-z]+:|@import)' 'the SVG loads nothing'

run "$FLAME" render in.folded
ok 'render of the same input gives the same bytes' cmp out first.svg
run "$FLAME" render <in.folded
ok 'render of standard input gives the same bytes' cmp out first.svg
run "$FLAME" render - <in.folded
ok "render of '-' gives the same bytes" cmp out first.svg
sort -r in.folded >reversed.folded
run "$FLAME" render reversed.folded
ok 'render of reordered lines gives the same bytes' cmp out first.svg
sed 's/$/\r/' in.folded >crlf.folded
run "$FLAME" render crlf.folded
ok 'render of CRLF lines gives the same bytes' cmp out first.svg
run_expect_status 0 'render -o succeeds' "$FLAME" render -o o.svg in.folded
ok 'render -o writes the same bytes' cmp o.svg first.svg
is_str "$(cat out)" '' 'render -o prints nothing on standard output'

draw() {
    run "$FLAME" render "$@" in.folded
    [ "$status" -eq 0 ] || test_fail "render $*" "$(cat err)"
}

draw --title 'A & <B>' --subtitle 'of "C"'
file_has out '>A &amp; &lt;B&gt;</text>' '--title is in the SVG, escaped'
file_has out 'id="subtitle".*>of &quot;C&quot;</text>' '--subtitle is in the SVG, escaped'
draw --width 640
file_has out '<svg width="640"' '--width sets the width'
file_has out 'data-fluid="0"' '--width makes the SVG fixed'
draw --height 30
file_has out '<rect [^>]*height="29"' '--height sets the height of a frame'
draw --minwidth 10%
file_lacks out '<title>wake' '--minwidth in percent drops a narrow frame'
file_has out '<title>read' '--minwidth in percent keeps a wide frame'
draw --minwidth 100
file_lacks out '<title>wake' '--minwidth in pixels drops a narrow frame'
draw --countname 'ca<ts'
file_has out '\(650 ca&lt;ts, 100\.00%\)' '--countname is the unit, escaped'
draw --countname bytes
file_has out '\(650 bytes, 100\.00%\)' '--countname bytes is the unit'
draw --nametype 'Frame"'
file_has out 'data-nametype="Frame&quot;"' '--nametype is in the SVG, escaped'
draw --colors io
ok '--colors changes the picture' test "$(grep -o 'fill="#[^"]*"' out | head -9 | sort)" != \
    "$(grep -o 'fill="#[^"]*"' first.svg | head -9 | sort)"
draw --hash
ok '--hash changes the picture' test "$(cat out)" != "$(cat first.svg)"
draw --reverse
file_has out 'data-d="1"><title>parse \(300 samples' '--reverse has leaves at the root'
draw --inverted
file_has out '>Icicle Graph</text>' '--inverted has the title Icicle Graph'
root=$(grep -o '<title>all .*y="[0-9.]*" w' out | sed 's/.* y="\([0-9.]*\)".*/\1/')
leaf=$(grep -o '<title>parse .*y="[0-9.]*" w' out | sed 's/.* y="\([0-9.]*\)".*/\1/')
ok '--inverted has the root at the top' test "$root" -lt "$leaf"
draw --fonttype 'Comic"Sans' --fontsize 20
file_has out 'id="frames" font-family="Comic&quot;Sans" font-size="20"' \
    '--fonttype and --fontsize are in the SVG'

for palette in hot mem io java js perl python rust wakeup chain red green blue aqua yellow purple orange; do
    ok "render --colors $palette succeeds" "$FLAME" render --colors "$palette" in.folded
done

done_testing
