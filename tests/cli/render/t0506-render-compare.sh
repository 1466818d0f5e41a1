#!/bin/bash
# flame render of comparisons: widths, colours, signs; and bands of chains.
. "${0%/*}/../lib.sh"

cat >two <<'END'
a;grew 10 30
a;fell 30 10
a;same 20 20
a;gone;x 20 0
a;new 0 20
END

# The frame NAME: everything between <g and </g>.
frame() {
    grep -o '<g data-x=[^>]*><title>'"$1"' (.*</g>' out
}
title() {
    frame "$1" | sed 's/.*<title>\(.*\)<\/title>.*/\1/'
}
label() {
    frame "$1" | sed -n 's/.*<text [^>]*>\(.*\)<\/text>.*/\1/p'
}

run_expect_status 0 'render of a comparison succeeds' "$FLAME" render two
is_str "$(label grew)" '+ grew' 'a comparison: growth has a plus'
is_str "$(label fell)" '− fell' 'a comparison: decline has a minus'
is_str "$(label same)" 'same' 'a comparison: an unchanged frame has no sign'
is_str "$(title grew)" 'grew (30 samples, 37.50%; +25.00% of all before)' \
    'a comparison: the tooltip has the change of all before'
is_str "$(frame gone)" '' 'a comparison: a frame only before is not drawn'
run "$FLAME" render --negate two
is_str "$(label grew)" '− grew' '--negate turns the signs'
is_str "$(title grew)" 'grew (30 samples, 37.50%; -25.00% of all before)' '--negate turns the change'

run "$FLAME" render --widths before two
is_str "$(title fell)" 'fell (30 samples, 37.50%; -25.00% of all before)' \
    '--widths before draws the counts before'
run "$FLAME" render --widths either two
is_str "$(title all)" 'all (120 samples, 100%)' '--widths either draws the sum of both sides'
is_str "$(title x)" 'x (20 samples, 16.67%; -25.00% of all before)' '--widths either draws a frame only before'
run "$FLAME" render --widths elided two
is_str "$(title '\[only before\]')" '[only before] (20 samples, 20.00%; 0.00% of all before)' \
    '--widths elided collects frames only before'
is_str "$(frame x | grep -o 'data-c="."')" 'data-c="g"' '--widths elided marks a frame only before'
is_str "$(frame new | grep -o 'data-c="."')" 'data-c="n"' '--widths elided marks a frame only after'
last=$(grep -o 'data-x="[0-9]*" data-w="[0-9]*" data-d="1"' out | tail -1)
is_str "$last" 'data-x="80" data-w="20" data-d="1"' '--widths elided draws frames only before at the right'

# One side may be empty.
printf 'a;b 5 0\na;c 7 0\n' >went
printf 'a;b 0 5\na;c 0 7\n' >came
for widths in before either elided; do
    run_expect_status 0 "render --widths $widths with an empty second side succeeds" \
        "$FLAME" render --widths $widths went
    is_str "$(title all)" 'all (12 samples, 100%)' \
        "render --widths $widths with an empty second side draws the first"
done
run_expect_status 0 'render -f html with an empty second side succeeds' "$FLAME" render -f html went
run_expect_status 0 'render with an empty second side succeeds' "$FLAME" render went
is_str "$(cat err)" 'flame: every second count is 0; --widths either has room for the others' \
    'render with an empty second side proposes --widths either'
file_has out '>every second count is 0; --widths either has room for the others<' \
    'the picture with an empty second side proposes --widths either'
run_expect_status 0 'render --widths before with an empty first side succeeds' \
    "$FLAME" render --widths before came
is_str "$(cat err)" 'flame: every first count is 0; --widths either has room for the others' \
    'render --widths before with an empty first side proposes --widths either'
file_has out '>every first count is 0; --widths either has room for the others<' \
    'the picture with an empty first side proposes --widths either'
for widths in after before either elided; do
    run "$FLAME" render --total 1000 --widths $widths two
    is_str "$(title all)" 'all (1,000 samples, 100%)' "--total with --widths $widths sets the root"
done

for widths in after before either elided; do
    run "$FLAME" render --widths $widths two
    like "$(title grew)" '; \+25.00% of all before\)$' "--widths $widths: a change is in percent of all before"
done
"$FLAME" render -o none.svg came
ok 'with an empty first side each frame is new' grep -q '<title>b (5 samples, 41.67%; new)' none.svg
run "$FLAME" render --change relative two
is_str "$(title grew)" 'grew (30 samples, 37.50%; +200.00% of itself)' \
    '--change relative has the change of the frame itself'
is_str "$(title new)" 'new (20 samples, 25.00%; new)' '--change relative calls a frame only after new'
run "$FLAME" render --carry two
is_str "$(title a)" 'a (80 samples, 100.00%; 0.00% of all before)' '--carry counts callees'
run "$FLAME" render --carry --widths either two
is_str "$(title gone)" 'gone (20 samples, 16.67%; -25.00% of all before)' \
    '--carry has callers of frames only before'

# Cycles as widths, instructions for each of them as colours.
printf 'm;stalls 10 100\nm;spins 300 100\n' >cpi
run "$FLAME" render --change ratio cpi
is_str "$(title stalls)" 'stalls (100 samples, 50.00%; ratio 10.000)' \
    '--change ratio has the ratio in the tooltip'
is_str "$(label stalls)" '+ stalls' '--change ratio: a plus above the ratio of all'
is_str "$(label spins)" '− spins' '--change ratio: a minus below the ratio of all'
is_str "$(label m)" 'm' '--change ratio: no sign at the ratio of all'

run_expect_status 2 '--widths thin ends with status 2' "$FLAME" render --widths thin two
run_expect_status 2 '--change much ends with status 2' "$FLAME" render --change much two
printf 'a;b 1\n' >one
run "$FLAME" render one
cp out plain
run_expect_status 0 'render of one count with options of comparisons succeeds' \
    "$FLAME" render --widths elided --change ratio --carry one
ok 'render of one count with options of comparisons is the plain picture' cmp out plain
file_has err 'not a comparison' 'render of one count with options of comparisons says so'
run_expect_status 0 'render -f png of a comparison succeeds' "$FLAME" render -f png --widths elided two
ok 'render -f png of a comparison writes a PNG' test "$(head -c 4 out | tail -c 3)" = PNG

cat >chain <<'END'
T1;run;futex;--;post_[w];loop_[w];T2_[w] 5
T1;run;futex;--;post_[w];loop_[w];T2_[w];--;sig_[w];main_[w];T3_[w] 4
T1;run;nap;--;[timer]_[w] 3
T1;run 3
END
run "$FLAME" render chain
is_str "$(grep -o 'data-c="a"><title>[^ ]*' out | sed 's/.*>//' | tr '\n' ' ')" 'T1 T2 T3 ' \
    'names of threads are bands, at both ends of a chain'
printf '%s 5\n' 'app;app-7;run;futex;--;post_[w];loop-1_[w];run_[w];app-8_[w];app_[w]' >tids
run "$FLAME" render tids
is_str "$(grep -o 'data-c="a"><title>[^ ]*' out | sed 's/.*>//' | tr '\n' ' ')" 'app app-7 app-8 app ' \
    'threads with ids are bands, too'
run "$FLAME" render chain
fill() {
    frame "$1" | grep -o 'fill="[^"]*"'
}
ok 'bands of threads have their own colour' test "$(fill T1)" != "$(fill run)"
run "$FLAME" render --reverse chain
file_lacks out '<g [^>]*data-c="a"' '--reverse has no bands'
printf 'T1;run;T2 5\n' >plain_chain
run "$FLAME" render plain_chain
file_lacks out '<g [^>]*data-c=' 'stacks without wakers have no bands'

done_testing
