#!/bin/bash
# The lanes of only one of several texts are drawn, as each recording has its own time; a line says so.
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

run_expect_status 0 'render of one recording with lanes succeeds' "$FLAME" render -o one.html a.folded
is_str "$(cat err)" '' 'render of one recording with lanes prints nothing'
file_has one.html '"lanes":\{"rows":1.*"others":0' 'the page of one recording has its lanes'
run_expect_status 0 'render of three recordings with lanes succeeds' \
    "$FLAME" render -o three.html a.folded b.folded c.folded
is_str "$(cat err)" 'flame: lanes are drawn of the first of 3 recordings: each has a time of its own; draw the others by themselves' \
    'render of three recordings says that it draws the lanes of the first'
file_has three.html '"lanes":\{"rows":1.*"others":2' 'the page of three recordings counts the others'
run_expect_status 0 'render -o three.svg of three recordings succeeds' \
    "$FLAME" render -o three.svg a.folded b.folded c.folded
is_str "$(cat err)" '' 'render -o three.svg of three recordings prints nothing'
done_testing
