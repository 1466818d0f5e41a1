#!/bin/bash
# The legend of a picture has the total and the meaning of its colours, in SVG and PNG.
. "${0%/*}/../lib.sh"

# legend OPTION...: draws in.folded; the texts of its legend, joined by '|', colours as 'N:'.
legend() {
    "$FLAME" render -o out.svg "$@"
    sed -n '/<g id="legend"/,/^<\/g>/p' out.svg | grep '^<g>' |
        sed -E 's/<rect [^>]*>/#/g; s/#{9}/[9]/; s/#/[1]/; s/<[^>]*>//g; s/\[/ [/; s/\]/] /; s/ +/ /g; s/^ //; s/ $//' |
        paste -sd'|'
}

printf 'a;up 10 30\na;down 30 10\na;gone;f 20 0\na;new;f 0 20\n' >two.folded
printf 'main;work 1572864\nmain 524288\n' >one.folded
is_str "$(legend --countname bytes one.folded)" \
    'Total 2.00 MiB, 2,097,152 bytes|Colours tell names apart and mean nothing else' \
    'the legend has total and unit'
is_str "$(legend --random one.folded)" \
    'Total 2,097,152 samples|Shades tell frames apart and mean nothing' 'the legend of --random'
is_str "$(legend --hash --factor 0.5 one.folded)" \
    'Total 1,048,576 samples|Shades are alike for names that begin alike' 'the legend of --hash --factor'

printf 'main;f;sys_[k] 3\nmain;g_[i];j_[j] 2\n' >kinds.folded
like "$(legend kinds.folded)" 'Total 5 samples.*kernel.*inlined.*JIT.*other functions.*Shades tell names apart' \
    'the legend has the kinds of frames in the picture'
file_lacks out.svg 'off CPU' 'the legend has no other kinds of frames'
printf '# flame: view=chain unit=us\nT;run;--;p_[w];U_[w];--;q_[w];V_[w] 5000\n' >chain.folded
like "$(legend chain.folded)" 'Total 5.00 ms.*who slept.*who woke it.*who woke that one.*name of a thread' \
    'the legend of a chain has its wakers'
file_lacks out.svg '3 wakes before' 'the legend of a chain has no further wakers'

like "$(legend two.folded)" 'Total 60 samples after.*Change of a frame itself: [^ ]*20 samples \[9\] \+20 samples' \
    'the legend of a comparison has the scale'
like "$(legend --carry two.folded)" 'Change of a frame and all it calls: [^ ]*20 samples' \
    'the legend of --carry'
like "$(legend --negate two.folded)" 'itself, from after to before: ' 'the legend of --negate'
like "$(legend --change relative two.folded)" 'against itself: gone \[9\] new' 'the legend of --change relative'
like "$(legend --change relative --negate two.folded)" 'against itself: new \[9\] gone' \
    'the legend of --change relative --negate'
like "$(legend --change ratio two.folded)" 'each of the first: [^ ]* 0.25 \[9\] [^ ]* 4; of all 1' \
    'the legend of --change ratio'
like "$(legend --widths elided two.folded)" 'only before.*only after' 'the legend of --widths elided'
like "$(legend --widths before two.folded)" 'Total 60 samples before' 'the legend of --widths before'

# The scale's ends are the colours of frames that changed most, in that order.
legend two.folded >/dev/null
fill_of() { grep -o "<title>$1 (.*" out.svg | head -1 | grep -o 'fill="#[0-9a-f]*"'; }
scale=$(sed -n '/<g id="legend"/,/^<\/g>/p' out.svg | grep -o 'fill="#[0-9a-f]*"')
is_str "$(echo "$scale" | head -1)" "$(fill_of down)" 'the scale of the legend has decline at the left'
is_str "$(echo "$scale" | tail -1)" "$(fill_of up)" 'the scale of the legend has growth at the right'

legend --no-legend one.folded >/dev/null
file_lacks out.svg 'id="legend"' '--no-legend draws no legend'
height() { head -3 "$1" | grep -o ' height="[0-9.]*"' | head -1 | tr -dc 0-9.; }
none=$(height out.svg)
legend one.folded >/dev/null
is_str "$(height out.svg)" "$((none + 20))" 'the legend is one line'
legend --width 300 chain.folded >/dev/null
ok 'the legend of a narrow picture has several lines' grep -q 'data-lines="[2-9]"' out.svg

pixels() { # FILE: width and height of a PNG
    python3 -c 'import struct, sys; print(*struct.unpack(">II", open(sys.argv[1], "rb").read()[16:24]))' "$1"
}
"$FLAME" render --no-legend -o none.png two.folded
"$FLAME" render -o with.png two.folded
is_str "$(pixels none.png) $(pixels with.png)" '1200 110 1200 130' 'the PNG has the legend'

name=$'</text><script>\xff'
printf '<b>;x 3\n' >hostile.folded
run "$FLAME" render --countname "$name" -o out.svg hostile.folded
ok 'a hostile unit in the legend is escaped' python3 -c 'import xml.dom.minidom as m; d = m.parse("out.svg")
assert len(d.getElementsByTagName("script")) == 1'

done_testing
