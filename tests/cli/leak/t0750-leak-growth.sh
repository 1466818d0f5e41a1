#!/bin/bash
# flame leak --growth: stacks that grow by the same amount in each pass are reported with their slope,
# though reachable; those that fill up, double, warm up or come and go are not.
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
0 1 grow_empty' '--growth reports each growing stack by its slope, and no other'
is_int "$status" 23 '--growth with growing stacks ends with status 23'
file_has err '^flame: leak: compared the passes of 1 process: growers [0-9]+$' '--growth names the process'
file_has err '^flame: leak: 3.42 KiB, 3,500 bytes in 7 blocks more with each pass, 0 allowed; the largest:$' \
    '--growth reports the sum of a pass'
file_has err ' 104 bytes in 1 block a pass, fit 1\.00: grow_list [^ ]*growers\.c:[0-9]+ \(thread growers of growers [0-9]+\)' \
    '--growth reports fit, place and thread of a stack'
file_has err ': grow_noisily .* \(thread growers of growers [0-9]+\), kept by held of growers$' \
    '--growth reports who keeps what grows'
run "$FLAME" leak --growth -o g.folded --json g.json --tap g.tap -- ./growers 40 list
file_has err ': make_name .*\), kept by list of growers through grow_list$' \
    '--growth reports the functions between the keeper and the block'
file_has g.json '"kept_by": "list of growers", "through": "grow_list"' '--growth reports them in JSON'
file_has g.tap '^ *through: "grow_list"$' '--growth reports them in TAP'
file_has g.folded '^# flame: view=growth unit=bytes' 'the result of --growth has the view growth'
file_has g.folded ';main;.*grow_list;make_name 28$' 'the result of --growth has complete stacks'
for n in 10 63 64 65 1000; do
    grown "$n" list cache array warm
    is_str "${lines//$'\n'/ }" '104 1 grow_list 28 1 make_name' \
        "--growth finds the same slopes in $n passes"
done
run "$FLAME" leak --growth -o g.svg -- ./growers 5000 list
is_int "$(grep -c '28 bytes in 1 block a pass, fit 1.00: make_name' err)" 1 \
    '--growth finds the slope in 5000 passes'
file_has g.svg 'Memory growth by pass' 'the picture of --growth has its title'
run_expect_status 0 '--growth without growing stacks ends with status 0' "$FLAME" leak --growth -o n.svg -- \
    ./growers 100 cache array warm comes shrinks
file_has err '0 bytes in 0 blocks more with each pass, 0 allowed$' '--growth without growing stacks says so'
not_ok '--growth without growing stacks writes no picture' test -e n.svg
grown 60 list two
is_str "${lines//$'\n'/ }" '104 1 grow_list 28 1 make_name' \
    '--growth reports a stack of two mark names once'

# ---- the gate ----

run_expect_status 0 '--growth --max-bytes allows a growth a pass' \
    "$FLAME" leak --growth --max-bytes 132 -- ./growers 40 list
run_expect_status 23 '--growth --max-bytes one byte less ends with status 23' \
    "$FLAME" leak --growth --max-bytes 131 -o g.svg -- ./growers 40 list
run_expect_status 0 '--growth --max-blocks allows a growth a pass' \
    "$FLAME" leak --growth --max-blocks 2 -- ./growers 40 list
run_expect_status 2 '--growth with nine marks ends with status 2' \
    "$FLAME" leak --growth -o f.svg -- ./growers 9 list
file_has err '^flame: leak: --growth: no process had 10 marks of passes; set them with flamemem_mark' \
    '--growth with nine marks says that ten are needed'
run_expect_status 2 '--growth without marks ends with status 2' "$FLAME" leak --growth -- true
run_expect_status 2 '--growth --live ends with status 2' "$FLAME" leak --growth --live -- true
file_has err '^flame: leak: --live and --growth are two questions; ask one$' '--growth --live says why'
run_expect_status 2 '--growth=fast ends with status 2' "$FLAME" leak --growth=fast -- true
run_expect_status 2 '--growth=1 -o x.flame ends with status 2' "$FLAME" leak --growth=1 -o x.flame -- true
file_has err '^flame: leak: --growth=TIME -o x\.flame: ' '--growth=1 -o x.flame says why'
run_expect_status 0 'growers runs without flame leak' ./growers 40 list
is_str "$(cat out)" '0 marks' 'flamemem_mark without flame leak has no effect'
run_expect_status 0 'flame leak without --growth of growers ends with status 0' \
    "$FLAME" leak -q -- ./growers 40 list
is_str "$(cat out)" '40 marks' 'flamemem_mark without --growth counts marks'

# ---- suppressions, baselines, reports ----

printf 'leak:grow_list\n' >supp
run_expect_status 0 '--growth --suppressions ends with status 0' \
    "$FLAME" leak --growth --suppressions supp -- ./growers 40 list
run_expect_status 0 '--growth --write-baseline ends with status 0' \
    "$FLAME" leak --growth --write-baseline base -- ./growers 40 list
run_expect_status 0 '--growth --baseline ends with status 0' \
    "$FLAME" leak --growth --baseline base -- ./growers 40 list
run_expect_status 23 '--growth --baseline with a new stack ends with status 23' \
    "$FLAME" leak --growth --baseline base -o g.svg -- ./growers 40 list buffer
file_has err ' 256 bytes in 1 block more with each pass' '--growth --baseline counts a new stack alone'
run "$FLAME" leak --growth -o g.svg --tap g.tap --junit g.xml --json g.json -- ./growers 40 list chunks
file_has g.tap '^not ok 2 - growers: does not grow$' 'TAP has a point for growth'
file_has g.tap '^    - class: growth$' 'TAP has each growing stack'
file_has g.xml '104 bytes in 1 block a pass, fit 1\.00: grow_list' 'JUnit has the growing stacks'
file_has g.json '"class": "growth", "bytes": 104, "blocks": 1, .*"passes": 39, "fit": 1\.000000' \
    'leak.json has slope, passes and fit'
run "$FLAME" mem -q -o t.flame -- ./growers 40 list cache
is_str "$("$FLAME" fold --no-header --view growth t.flame | sed 's/.*;//')" 'grow_list 104
make_name 28' 'a trace with marks has the view growth'
run "$FLAME" mem -q -o t.flame -- ./growers 5 list
run_expect_status 2 'fold --view growth of five marks ends with status 2' "$FLAME" fold --view growth t.flame
file_has err 'recorded without 10 marks of passes' 'fold --view growth of five marks says why'
run "$FLAME" leak --growth -o g.folded -- ./growers 60 list fork
file_has err 'compared the passes of 2 processes: ' '--growth compares the passes of a forked child'
is_int "$(grep -c '104 bytes in 1 block a pass.*grow_list' err)" 0 \
    "--growth computes each process's slope alone" # 2 * 104
file_has err ' 208 bytes in 2 blocks a pass.*grow_list .*\(2 processes\)' \
    '--growth sums the slopes of two processes'

# ---- passes marked by a signal ----

# Whether no USR1 or USR2 waits for it: a second signal of a kind that is sent before that is lost.
not_waiting() {
    ! grep -Eqs '^ShdPnd:.*[236-9a-f][0-9a-f]{2}$' "/proc/$1/status"
}

# asked N SIGNAL: N passes of a program that waits for requests, each signalled to flame.
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
is_int "$status" 23 '--growth=USR1 with 60 signals ends with status 23'
is_str "$(sed -n 's/^flame:   .*: \([a-z_]*\) .*/\1/p' err | sort | tr '\n' ' ')" \
    'grow_buffer grow_list make_name ' '--growth=USR1 reports the growing stacks'
is_str "$(awk '/grow_list / { print ($NF > 95 && $NF < 115) ? "yes" : "no " $NF }' s.folded)" yes \
    '--growth=USR1 reports the growth of a pass'
is_str "$(cat out)" $'0 signals\n0 marks' '--growth=USR1 does not pass the signal to the program'
asked 5 SIGUSR2
is_int "$status" 2 '--growth=SIGUSR2 with 5 signals ends with status 2'
file_has err ' or send flame a --growth=SIGNAL after each$' \
    '--growth=SIGUSR2 with 5 signals says that they are too few'
run_expect_status 0 'flame leak without --growth passes on USR1: status 0' bash -c '
    "$0" leak -q -- sh -c "trap \"echo got it; exit\" USR1; echo ready >&2; while :; do sleep 0.05; done" 2>ready &
    until grep -q ready ready; do sleep 0.05; done
    kill -USR1 $!; wait $!' "$FLAME"
is_str "$(cat out)" 'got it' 'flame leak without --growth passes on USR1 to the command'
run_expect_status 2 '--growth=TERM ends with status 2' "$FLAME" leak --growth=TERM -- true
file_has err '^flame: leak: --growth TERM: expected a time such as 10, 1\.5s or 500ms, or USR1 or USR2$' \
    '--growth=TERM says what it expects'
run_expect_status 2 '--growth=USR1 -o x.flame ends with status 2' "$FLAME" leak --growth=USR1 -o x.flame -- true

done_testing
