#!/bin/bash
# flame leak --growth: what grows by the same amount from pass to pass is told with its slope,
# though something leads to it; what fills up, doubles, warms up or comes and goes is not.
. "${0%/*}/../lib.sh"
compile_victim growers -O1 -pthread

# grown N WHAT...: bytes, blocks and function of each line, in $lines.
grown() {
    run "$FLAME" leak --growth -o g.folded -- ./growers "$@"
    lines=$(sed -n 's/^flame:   //p' err |
        sed -E 's/^[0-9.]+ [KM]iB, //; s/ bytes? in ([0-9,]+) blocks? a pass, fit [0-9.]+: ([a-z_]+) .*/ \1 \2/')
}

# ---- marks ----

grown 40 list buffer threads chunks empty noise cache array warm comes shrinks
is_str "$lines" \
    '2,048 1 grow_chunks
1,000 1 grow_noisily
256 1 grow_buffer
104 1 grow_list
64 1 hold_in_thread
28 1 make_name
0 1 grow_empty' 'each that grows is told by its slope, and no other'
is_int "$status" 23 'and fails'
file_has err '^flame: leak: compared the passes of 1 process: growers [0-9]+$' 'who was looked at is said'
file_has err '^flame: leak: 3.42 KiB, 3,500 bytes in 7 blocks more with each pass, 0 allowed; the largest:$' \
    'the sum, too'
file_has err ' 104 bytes in 1 block a pass, fit 1\.00: grow_list [^ ]*growers\.c:[0-9]+ \(thread growers of growers [0-9]+\)$' \
    'with fit, place and thread'
file_has g.folded '^# flame: view=growth unit=bytes' 'the result is in bytes of growth'
file_has g.folded ';main;.*grow_list;make_name 28$' 'with whole stacks'
for n in 10 63 64 65 1000; do
    grown "$n" list cache array warm
    is_str "${lines//$'\n'/ }" '104 1 grow_list 28 1 make_name' \
        "$n passes say the same"
done
run "$FLAME" leak --growth -o g.svg -- ./growers 5000 list
is_int "$(grep -c '28 bytes in 1 block a pass, fit 1.00: make_name' err)" 1 'so do 5000'
file_has g.svg 'Memory growth by pass' 'in a picture'
run_expect_status 0 'what does not grow' "$FLAME" leak --growth -o n.svg -- \
    ./growers 100 cache array warm comes shrinks
file_has err '0 bytes in 0 blocks more with each pass, 0 allowed$' 'is no leak'
not_ok 'and leaves no picture' test -e n.svg
grown 60 list two
is_str "${lines//$'\n'/ }" '104 1 grow_list 28 1 make_name' \
    'what grows for two names is told once'

# ---- the gate ----

run_expect_status 0 'so much a pass may be allowed' "$FLAME" leak --growth --max-bytes 132 -- ./growers 40 list
run_expect_status 23 'or a byte less' "$FLAME" leak --growth --max-bytes 131 -o g.svg -- ./growers 40 list
run_expect_status 0 'or so many blocks' "$FLAME" leak --growth --max-blocks 2 -- ./growers 40 list
run_expect_status 2 'fewer than 10 marks' "$FLAME" leak --growth -o f.svg -- ./growers 9 list
file_has err '^flame: leak: --growth: no process had 10 marks of passes; set them with flamemem_mark' \
    'are no clean bill'
run_expect_status 2 'nor is none' "$FLAME" leak --growth -- true
run_expect_status 2 'two questions' "$FLAME" leak --growth --live -- true
file_has err '^flame: leak: --live and --growth are two questions; ask one$' 'are one too many'
run_expect_status 2 'an interval that is none' "$FLAME" leak --growth=fast -- true
run_expect_status 2 'times in a trace' "$FLAME" leak --growth=1 -o x.flame -- true
file_has err '^flame: leak: --growth=TIME -o x\.flame: ' 'are refused'
run_expect_status 0 'without flame leak' ./growers 40 list
is_str "$(cat out)" '0 marks' 'a mark does nothing'
run_expect_status 0 'without --growth' "$FLAME" leak -q -- ./growers 40 list
is_str "$(cat out)" '40 marks' 'nothing is lost'

# ---- what else there is of it ----

printf 'leak:grow_list\n' >supp
run_expect_status 0 'growth is suppressed' "$FLAME" leak --growth --suppressions supp -- ./growers 40 list
run_expect_status 0 'a baseline is written' "$FLAME" leak --growth --write-baseline base -- ./growers 40 list
run_expect_status 0 'and known' "$FLAME" leak --growth --baseline base -- ./growers 40 list
run_expect_status 23 'what it lacks counts' "$FLAME" leak --growth --baseline base -o g.svg -- ./growers 40 list buffer
file_has err ' 256 bytes in 1 block more with each pass' 'alone'
run "$FLAME" leak --growth -o g.svg --tap g.tap --junit g.xml --json g.json -- ./growers 40 list chunks
file_has g.tap '^not ok 2 - growers: does not grow$' 'TAP has a point of it'
file_has g.tap '^    - class: growth$' 'with each stack'
file_has g.xml '104 bytes in 1 block a pass, fit 1\.00: grow_list' 'JUnit, too'
file_has g.json '"class": "growth", "bytes": 104, "blocks": 1, .*"passes": 39, "fit": 1\.000000' 'leak.json has the fit'
run "$FLAME" mem -q -o t.flame -- ./growers 40 list cache
is_str "$("$FLAME" fold --no-header --view growth t.flame | sed 's/.*;//')" 'grow_list 104
make_name 28' 'a trace with marks has the view'
run "$FLAME" mem -q -o t.flame -- ./growers 5 list
run_expect_status 2 'one with few has not' "$FLAME" fold --view growth t.flame
file_has err 'recorded without 10 marks of passes' 'and says so'
run "$FLAME" leak --growth -o g.folded -- ./growers 60 list fork
file_has err 'compared the passes of 2 processes: ' 'a forked child has marks of its own'
is_int "$(grep -c '104 bytes in 1 block a pass.*grow_list' err)" 0 'that are counted apart' # 2 * 104
file_has err ' 208 bytes in 2 blocks a pass.*grow_list .*\(2 processes\)' 'and added up'

# ---- passes that somebody else tells ----

# Whether no USR1 or USR2 waits for it: a second of a kind that is sent until then is none.
not_waiting() {
    ! grep -Eqs '^ShdPnd:.*[236-9a-f][0-9a-f]{2}$' "/proc/$1/status"
}

# asked N SIGNAL: N passes of a program that waits to be asked, each told to flame.
asked() {
    local n=$1 signal=$2 pid to from
    mkfifo to from
    "$FLAME" leak "--growth=$signal" -o s.folded -- ./growers "$n" unmarked asked pause list buffer cache array comes \
        <to >from 2>err &
    pid=$!
    exec {to}>to {from}<from
    for ((i = 0; i < n; i++)); do
        echo >&"$to"
        read -r <&"$from"
        kill "-$signal" "$pid"
        until_true not_waiting "$pid"
    done
    cat <&"$from" >out
    exec {to}>&- {from}<&-
    wait "$pid"
    status=$?
    rm to from
}
asked 60 USR1
is_int "$status" 23 'passes that are told by a signal to flame are compared'
is_str "$(sed -n 's/^flame:   .*: \([a-z_]*\) .*/\1/p' err | sort | tr '\n' ' ')" \
    'grow_buffer grow_list make_name ' 'what grows is told'
is_str "$(awk '/grow_list / { print ($NF > 95 && $NF < 115) ? "yes" : "no " $NF }' s.folded)" yes \
    'by what it grows with a pass'
is_str "$(cat out)" $'0 signals\n0 marks' 'and the program has not got the signal'
asked 5 SIGUSR2
is_int "$status" 2 'a few'
file_has err ' or send flame a --growth=SIGNAL after each$' 'are too few'
run_expect_status 0 'a signal that does not count' bash -c '
    "$0" leak -q -- sh -c "trap \"echo got it; exit\" USR1; echo ready >&2; while :; do sleep 0.05; done" 2>ready &
    until grep -q ready ready; do sleep 0.05; done
    kill -USR1 $!; wait $!' "$FLAME"
is_str "$(cat out)" 'got it' 'is passed on as ever'
run_expect_status 2 'a signal that is needed' "$FLAME" leak --growth=TERM -- true
file_has err '^flame: leak: --growth TERM: expected a time such as 10, 1\.5s or 500ms, or USR1 or USR2$' \
    'cannot tell passes'
run_expect_status 2 'signals in a trace' "$FLAME" leak --growth=USR1 -o x.flame -- true

done_testing
