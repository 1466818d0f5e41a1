#!/bin/bash
# The rest of flamegraph.pl's options, as scripts use them.
. "${0%/*}/../lib.sh"

cat >in.folded <<'END_FOLDED'
main;read;parse 300
main;read 100
main;write 200
END_FOLDED

draw() {
    run "$FLAME" render "$@"
    [ "$status" -eq 0 ] || test_fail "render $*" "$(cat err)"
}
fill_of() { # FILE NAME
    grep -o "<title>$2 (.*" "$1" | head -1 | grep -o 'fill="#[0-9a-f]*"'
}

draw --notes 'made <at> home -- twice --->' in.folded
file_has out '^<!-- NOTES: made &lt;at&gt; home -_ twice -_-&gt; -->$' '--notes is a comment in the SVG'
ok '--notes keeps the SVG well-formed' python3 -c 'import xml.dom.minidom as m; m.parse("out")'

for color in yellow blue green grey '#aabbcc'; do
    draw --bgcolors "$color" in.folded
    file_lacks out 'stop-color="#fbfbf9"' "--bgcolors $color replaces the default background"
    file_lacks out 'prefers-color-scheme' "--bgcolors $color is the same in dark mode"
done
file_has out 'stop-color="#aabbcc"/><stop class="paper2" offset="100%" stop-color="#aabbcc"' \
    '--bgcolors takes a hex colour'
run_expect_status 2 '--bgcolors pink ends with status 2' "$FLAME" render --bgcolors pink in.folded
file_has err 'yellow, blue, green, grey or #rrggbb' '--bgcolors pink lists the colours'
run_expect_status 2 '--bgcolors with half a hex colour ends with status 2' \
    "$FLAME" render --bgcolors '#12345' in.folded

draw --cp in.folded
file_has palette.map '^parse->rgb\([0-9]+,[0-9]+,[0-9]+\)$' '--cp writes palette.map'
is_int "$(wc -l <palette.map)" 5 '--cp writes a line a name'
cp out first.svg
printf 'parse->rgb(1,2,3)\nother->x->rgb(9,9,9)\nnonsense\n' >palette.map
draw --cp in.folded
is_str "$(fill_of out parse)" 'fill="#010203"' '--cp follows the colours of palette.map'
is_str "$(fill_of out read)" "$(fill_of first.svg read)" '--cp keeps the default colour of other names'
file_has palette.map '^other->x->rgb\(9,9,9\)$' '--cp keeps names that are not in the picture'
draw --cp=other.map --colors blue in.folded
ok '--cp=other.map writes that file' test -s other.map
run_expect_status 2 '--cp of a directory ends with status 2' "$FLAME" render --cp=. in.folded
for colors in none/x.map in.folded/x.map /proc/x.map; do
    run_expect_status 2 "--cp=$colors -o never.svg ends with status 2" \
        "$FLAME" render --cp="$colors" -o never.svg in.folded
    like "$(cat err)" "^flame: $colors: cannot (read|write): .*; c[^;]*\$" \
        "--cp=$colors says that it cannot be read or written"
    is_int "$(wc -l <err)" 1 "--cp=$colors prints one line"
    not_ok "--cp=$colors writes no picture" test -e never.svg
    run_expect_status 2 "--cp=$colors to standard output ends with status 2" \
        "$FLAME" render --cp="$colors" in.folded
    not_ok "--cp=$colors to standard output writes no partial picture" test -s out
done
run_expect_status 2 '--cp with a picture that cannot be written ends with status 2' \
    "$FLAME" render --cp=third.map -o none/x.svg in.folded
is_str "$(echo third.map*)" 'third.map*' '--cp with a picture that cannot be written leaves no palette'

printf 'a;x 1\nb;x 1\nc;x 1\n' >same
draw same
is_int "$(grep -o '<title>x .*' out | grep -o 'fill="[^"]*"' | sort -u | wc -l)" 1 \
    'frames of one name have one colour'
draw --random same
is_int "$(grep -o '<title>x .*' out | grep -o 'fill="[^"]*"' | sort -u | wc -l)" 3 \
    '--random gives each frame its own colour'

printf 'a;up 1 9\na;down 9 1\n' >two.folded
draw two.folded
up=$(fill_of out up) down=$(fill_of out down)
draw --negate two.folded
is_str "$(fill_of out up)" "$down" '--negate draws growth in blue'
is_str "$(fill_of out down)" "$up" '--negate draws decline in red'

draw --total 1200 in.folded
file_has out '<title>main \(600 samples, 50\.00%\)' '--total sets what 100% is'
file_has out '<title>all \(1,200 samples, 100%\)' '--total sets the count of the root'
draw --total 5 in.folded
file_has err '--total 5 is less' '--total below the sum is reported'
file_has out '<title>main \(600 samples, 100' '--total below the sum has no effect'
draw --factor 0.5 in.folded
file_has out '<title>parse \(150 samples, 50\.00%\)' '--factor scales the shown counts'
file_has out 'data-w="300"' '--factor does not scale the widths'
run_expect_status 2 '--factor much ends with status 2' "$FLAME" render --factor much in.folded

printf 'm;b 1\nm;a 2\nm;b 3\nm;b 4\nm;a;c 5\n' >moments
draw --flamechart moments
file_has out '>Flame Chart</text>' '--flamechart has the title Flame Chart'
is_str "$(grep -o '<title>[abc] ([0-9]*' out | tr -d '\n')" \
    '<title>b (1<title>a (2<title>b (7<title>a (5<title>c (5' '--flamechart keeps the order of lines'
is_str "$(grep -o 'data-x="[0-9]*" data-w="[0-9]*" data-d="2"' out | cut -d'"' -f2 | tr '\n' ' ')" \
    '0 1 3 10 ' '--flamechart places frames from left to right'

draw --fontwidth 0.2 in.folded
cp out narrow
draw --fontwidth 10 in.folded
ok '--fontwidth decides which labels fit' test "$(grep -c '>parse</text>' narrow)" -gt \
    "$(grep -c '>parse</text>' out)"

printf 'caf\351;b\344r 5\n' >latin1
draw --encoding ISO-8859-1 latin1
file_has out '<title>café \(5' '--encoding ISO-8859-1 decodes names'
run_expect_status 2 '--encoding klingon ends with status 2' "$FLAME" render --encoding klingon latin1
file_has err "unknown encoding 'klingon'" '--encoding klingon says so'

printf 'parse\tid=p\tclass="x\ttitle=<my> title\nread\thref=https://example.org/?a&b\n\nwrite\thref=#\ttarget=new\tid=w\tid=again\n' >attrs
draw --nameattr attrs in.folded
file_has out '<g id="p" class="&quot;x" data-x="[0-9]*".*<title>&lt;my&gt; title</title>' \
    '--nameattr sets id, class and title'
file_has out '<a href="https://example.org/\?a&amp;b" target="_top"><g data-x.*</g></a>$' \
    '--nameattr sets a link'
file_has out '<a href="#" target="new"><g id="w" data-x' "--nameattr sets a link's target"
ok '--nameattr keeps the SVG well-formed' python3 -c 'import xml.dom.minidom as m; m.parse("out")'
printf 'a\tb=c\nparse\tno equals\n' >attrs
run_expect_status 2 '--nameattr with a wrong line ends with status 2' "$FLAME" render --nameattr attrs in.folded
is_str "$(cat err)" 'flame: attrs:2: expected attribute=value' '--nameattr with a wrong line names it'
printf 'parse\ton load=x\n' >attrs
run_expect_status 2 '--nameattr with a wrong attribute ends with status 2' \
    "$FLAME" render --nameattr attrs in.folded
run_expect_status 2 '--nameattr with a missing file ends with status 2' \
    "$FLAME" render --nameattr nowhere in.folded

printf 'app;wait;--;f_[w];--;f_[w];--;f_[w] 5\n' >chain
draw --colors chain chain
is_int "$(grep -o '<title>f (.*' out | grep -o 'fill="[^"]*"' | sort -u | wc -l)" 3 \
    '--colors chain: a function has another colour at each distance along a chain'
is_int "$(grep -o '<title>-- (.*' out | grep -o 'fill="[^"]*"' | sort -u | wc -l)" 1 \
    '--colors chain: separators of a chain have one colour'

done_testing
