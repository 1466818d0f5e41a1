#!/bin/bash
# A trace of waiting through fold, render and top: views, filters, hostile names.
. "${0%/*}/../lib.sh"

"$BUILD/tests/unit/fold/test_offviews" off.flame || {
    test_fail 'the sample off-CPU trace is written'
    done_testing
}
views='off wakeup offwake chain io runq oncpu hotcold'

# tests/unit/fold/test_offviews.c checks their exact contents.
"$FLAME" fold off.flame >default.folded
for view in $views; do
    run_expect_status 0 "fold --view $view succeeds" "$FLAME" fold --view "$view" off.flame
    is_str "$(head -n 1 out)" "# flame: view=$view unit=us" "fold --view $view: the header names view and unit"
    is_str "$(cat err)" '' "fold --view $view reports no error"
    is_str "$(tail -n +2 out | sort)" "$(tail -n +2 out)" "fold --view $view: the lines are sorted"
    file_lacks out "$(printf '[\033\t]')" "fold --view $view: no control characters"
    run_expect_status 0 "render --view $view succeeds" "$FLAME" render --view "$view" off.flame
    ok "render --view $view: the SVG is well-formed" \
        python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' out
    file_lacks out '<script>[^<]*run' "render --view $view: a thread's name does not become a script"
    file_lacks out '_\[[kwo]\]' "render --view $view: annotations of frames are not shown"
done
"$FLAME" fold --view off off.flame >off.folded
ok 'fold of an off-CPU trace uses --view off by default' cmp off.folded default.folded
for view in offwake chain; do
    is_int "$("$FLAME" fold --view "$view" off.flame | awk '/^#/ {next} {n += $NF} END {print n}')" \
        "$(awk '/^#/ {next} {n += $NF} END {print n}' off.folded)" \
        "fold --view $view has the same total as --view off"
done

"$FLAME" render off.flame >off.svg
file_has off.svg '>Off-CPU time<' 'the off-CPU picture has its title'
file_has off.svg '<title>w:  \[1m&lt;script&gt; \(96.30 ms, 96,300 µs, 93.93%\)' \
    "a frame's tooltip has times in readable units"
"$FLAME" render --view chain off.flame >chain.svg
file_has chain.svg '>Off-CPU wake chains<' 'the picture of --view chain has its title'
run_expect_status 0 'render writes a page of an off-CPU trace' "$FLAME" render -o x.html off.flame
for title in 'Off-CPU time' Wakeups 'Off-CPU time and wakers' 'Off-CPU wake chains' 'I/O waits' \
    'Run-queue latency' 'On-CPU time' 'Hot and cold'; do
    file_has x.html "\"$title\"" "the page has '$title'"
done
run_expect_status 0 'top --view wakeup succeeds' "$FLAME" top --view wakeup off.flame
file_has out 'Wakeups: 98.30 ms' 'top --view wakeup prints view and unit'

# filters
run_expect_status 0 'fold --comm succeeds' "$FLAME" fold --comm app --comm none off.flame
is_int "$(grep -vc '^#' out)" 3 'fold --comm keeps the stacks of one thread'
is_str "$(cat err)" 'flame: left out 0.096 s of 0.103 s; of other threads 0.096 s' \
    'fold --comm reports how much it filtered out'
run_expect_status 0 'fold --exclude succeeds' "$FLAME" fold --exclude '^nano' --exclude load off.flame
is_int "$(grep -vc '^#' out)" 3 'fold --exclude drops stacks with such frames'
file_has err 'with an excluded frame 0.008 s$' 'fold --exclude reports how much it filtered out'
run_expect_status 0 'fold --idle succeeds' "$FLAME" fold --idle off.flame
file_lacks out pthread_cond_wait "fold --idle drops a worker's wait for work"
is_str "$(tr -cd '\033' <err)" '' 'fold --idle prints thread names without escape sequences'
file_has err 'idle 0.091 s of 1 thread \(w;' 'fold --idle reports the idle thread'
# Commands that fold a trace themselves take the same options. For folded text they are an error.
for command in 'render -f folded' top 'render -f html'; do
    # shellcheck disable=SC2086 # a command with its options
    run_expect_status 0 "$command --idle --pid --tid" "$FLAME" $command --idle --pid --tid off.flame
    file_lacks out pthread_cond_wait "$command --idle drops a worker's wait for work"
    file_has out 'app-[0-9]' "$command --pid shows the process id"
    file_has err 'idle 0.091 s of 1 thread \(w;' "$command --idle reports the idle thread"
done
"$FLAME" fold off.flame >off.folded
for option in --idle --pid --tid; do
    rm -f refused.svg
    run_expect_status 2 "render of folded text with $option ends with status 2" \
        "$FLAME" render $option -o refused.svg off.folded
    is_str "$(cat err)" "flame: render: off.folded: $option is of traces, and this is folded already; give it to 'flame fold'" \
        "render of folded text with $option: one line says why"
    is_int "$(find . -name refused.svg | wc -l)" 0 "render of folded text with $option writes no file"
done
run_expect_status 0 'render --pid accepts an empty text' "$FLAME" render --pid -o empty.svg /dev/null
run_expect_status 0 'fold --comm with a name that no thread has succeeds' "$FLAME" fold --comm nobody off.flame
is_int "$(grep -vc '^#' out)" 0 'fold --comm with a name that no thread has prints no stack'
run_expect_status 2 'fold --exclude with an invalid regular expression ends with status 2' \
    "$FLAME" fold --exclude 'a[' off.flame
is_int "$(wc -l <err)" 1 'fold --exclude with an invalid regular expression prints one line'
is_str "$(cat out)" '' 'fold --exclude with an invalid regular expression writes no output'

# what does not go together
run_expect_status 2 'fold --view alloc of an off-CPU trace ends with status 2' \
    "$FLAME" fold --view alloc off.flame
file_has err "off.flame: a trace of waiting; there is no view 'alloc' of it, but off, wakeup" \
    'fold --view alloc of an off-CPU trace: the error lists the views'
run_expect_status 2 'render with an unknown view ends with status 2' "$FLAME" render --view nope off.flame
file_has err 'render: --view nope: expected alloc, .* or hotcold' \
    'render with an unknown view: the error lists the views'
compile_victim keeper
"$FLAME" mem -q -o mem.flame -- ./keeper >/dev/null 2>&1
run_expect_status 2 'fold --view chain of a memory trace ends with status 2' \
    "$FLAME" fold --view chain mem.flame
file_has err "mem.flame: a trace of memory; there is no view 'chain' of it, but alloc" \
    'fold --view chain of a memory trace: the error says why'
run_expect_status 2 'fold of a memory and an off-CPU trace ends with status 2' "$FLAME" fold mem.flame off.flame
file_has err 'off.flame: a trace of waiting' 'fold of a memory and an off-CPU trace: the error names the second'
run_expect_status 2 'fold --idle of a memory trace ends with status 2' "$FLAME" fold --idle mem.flame
file_has err 'idle is for traces of .flame off' \
    'fold --idle of a memory trace: the error says what --idle is for'

# damage
head -c 10000 off.flame >cut.flame
run_expect_status 2 'fold of a truncated trace ends with status 2' "$FLAME" fold cut.flame
is_int "$(wc -l <err)" 1 'fold of a truncated trace prints one line'
done_testing
