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

run_expect_status 0 'a comparison' "$FLAME" render two
is_str "$(label grew)" '+ grew' 'growth has a plus'
is_str "$(label fell)" '− fell' 'decline has a minus'
is_str "$(label same)" 'same' 'what did not change neither'
is_str "$(title grew)" 'grew (30 samples, 37.50%; +25.00% of all before)' 'the change, of all before'
is_str "$(frame gone)" '' 'what is gone has no room'
run "$FLAME" render --negate two
is_str "$(label grew)" '− grew' '--negate turns signs, too'
is_str "$(title grew)" 'grew (30 samples, 37.50%; -25.00% of all before)' 'and the change'

run "$FLAME" render --widths before two
is_str "$(title fell)" 'fell (30 samples, 37.50%; -25.00% of all before)' '--widths before'
run "$FLAME" render --widths either two
is_str "$(title all)" 'all (120 samples, 100%)' '--widths either has room for all'
is_str "$(title x)" 'x (20 samples, 16.67%; -25.00% of all before)' 'for what is gone'
run "$FLAME" render --widths elided two
is_str "$(title '\[only before\]')" '[only before] (20 samples, 20.00%; 0.00% of all before)' '--widths elided'
is_str "$(frame x | grep -o 'data-c="."')" 'data-c="g"' 'marks what is gone'
is_str "$(frame new | grep -o 'data-c="."')" 'data-c="n"' 'and what is new'
last=$(grep -o 'data-x="[0-9]*" data-w="[0-9]*" data-d="1"' out | tail -1)
is_str "$last" 'data-x="80" data-w="20" data-d="1"' 'at the right of all that is there'

# One side may be all there is.
printf 'a;b 5 0\na;c 7 0\n' >went
printf 'a;b 0 5\na;c 0 7\n' >came
for widths in before either elided; do
    run_expect_status 0 "nothing is left, --widths $widths" "$FLAME" render --widths $widths went
    is_str "$(title all)" 'all (12 samples, 100%)' 'draws what there was'
done
run_expect_status 0 'nothing is left, as a page' "$FLAME" render -f html went
run_expect_status 0 'nothing is left to be drawn' "$FLAME" render went
is_str "$(cat err)" 'flame: every second count is 0; --widths either has room for the others' \
    'says what to do'
file_has out '>every second count is 0; --widths either has room for the others<' 'in the picture, too'
run_expect_status 0 'nothing was there' "$FLAME" render --widths before came
is_str "$(cat err)" 'flame: every first count is 0; --widths either has room for the others' \
    'says what to do'
file_has out '>every first count is 0; --widths either has room for the others<' 'in the picture, too'
for widths in after before either elided; do
    run "$FLAME" render --total 1000 --widths $widths two
    is_str "$(title all)" 'all (1,000 samples, 100%)' "--total with --widths $widths"
done

for widths in after before either elided; do
    run "$FLAME" render --widths $widths two
    like "$(title grew)" '; \+25.00% of all before\)$' "--widths $widths: a change is of what there was before"
done
"$FLAME" render -o none.svg came
ok 'of nothing all is new' grep -q '<title>b (5 samples, 41.67%; new)' none.svg
run "$FLAME" render --change relative two
is_str "$(title grew)" 'grew (30 samples, 37.50%; +200.00% of itself)' '--change relative'
is_str "$(title new)" 'new (20 samples, 25.00%; new)' 'of nothing'
run "$FLAME" render --carry two
is_str "$(title a)" 'a (80 samples, 100.00%; 0.00% of all before)' '--carry counts callees'
run "$FLAME" render --carry --widths either two
is_str "$(title gone)" 'gone (20 samples, 16.67%; -25.00% of all before)' 'for callers of what is gone'

# Cycles as widths, instructions for each of them as colours.
printf 'm;stalls 10 100\nm;spins 300 100\n' >cpi
run "$FLAME" render --change ratio cpi
is_str "$(title stalls)" 'stalls (100 samples, 50.00%; ratio 10.000)' '--change ratio'
is_str "$(label stalls)" '+ stalls' 'above the ratio of all'
is_str "$(label spins)" '− spins' 'below it'
is_str "$(label m)" 'm' 'as all'

run_expect_status 2 'other widths' "$FLAME" render --widths thin two
run_expect_status 2 'other colours' "$FLAME" render --change much two
printf 'a;b 1\n' >one
run "$FLAME" render one
cp out plain
run_expect_status 0 'no comparison' "$FLAME" render --widths elided --change ratio --carry one
ok 'is drawn as ever' cmp out plain
file_has err 'not a comparison' 'and it is said'
run_expect_status 0 'as a bitmap' "$FLAME" render -f png --widths elided two
ok 'which is one' test "$(head -c 4 out | tail -c 3)" = PNG

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
    'threads kept apart from their process, too'
run "$FLAME" render chain
fill() {
    frame "$1" | grep -o 'fill="[^"]*"'
}
ok 'of a colour of their own' test "$(fill T1)" != "$(fill run)"
run "$FLAME" render --reverse chain
file_lacks out '<g [^>]*data-c="a"' 'not so in a graph from the leaves'
printf 'T1;run;T2 5\n' >plain_chain
run "$FLAME" render plain_chain
file_lacks out '<g [^>]*data-c=' 'nor without wakers'

done_testing
