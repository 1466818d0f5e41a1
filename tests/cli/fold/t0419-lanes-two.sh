#!/bin/bash
# Lanes of one of several texts are drawn, as each recording has a time of its own, and that is said.
. "${0%/*}/../lib.sh"

text() { # NAME
    echo '# flame: view=off unit=us'
    echo "$1;sleep 2000"
    echo '# lanes: begin rows=1 threads=1 short=0 window=0 lost=0'
    echo "# lanes: thread pid=1 tid=1 uses=1 wall=9 cpu=0 runq=0 name= title="
    echo '# lanes: rows thread=AA== kind=AA== waker=AA=='
    echo "# lanes: in off $1;sleep rows=AA=="
    echo '# lanes: waits thread=0 n=1 data=AAAUAAA='
}
text a >a.folded
text b >b.folded
text c >c.folded

run_expect_status 0 'one recording' "$FLAME" render -o one.html a.folded
is_str "$(cat err)" '' 'has nothing to be said of'
file_has one.html '"lanes":\{"rows":1.*"others":0' 'and lanes'
run_expect_status 0 'three' "$FLAME" render -o three.html a.folded b.folded c.folded
is_str "$(cat err)" 'flame: lanes are drawn of the first of 3 recordings: each has a time of its own; draw the others by themselves' \
    'have those of the first, in one line'
file_has three.html '"lanes":\{"rows":1.*"others":2' 'which the page knows'
run_expect_status 0 'a picture of three' "$FLAME" render -o three.svg a.folded b.folded c.folded
is_str "$(cat err)" '' 'has no lanes, and nothing to be said of'
done_testing
