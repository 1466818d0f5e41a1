#!/bin/bash
# A trace of waiting through fold, render and top: views, filters, hostile names.
. "${0%/*}/../lib.sh"

"$BUILD/tests/unit/fold/test_offviews" off.flame || {
    test_fail 'the sample trace is made'
    done_testing
}
views='off wakeup offwake chain io runq oncpu hotcold'

# tests/unit/fold/test_offviews.c checks their exact contents.
"$FLAME" fold off.flame >default.folded
for view in $views; do
    run_expect_status 0 "fold --view $view" "$FLAME" fold --view "$view" off.flame
    is_str "$(head -n 1 out)" "# flame: view=$view unit=us" "$view: its header"
    is_str "$(cat err)" '' "$view: nothing to complain about"
    is_str "$(tail -n +2 out | sort)" "$(tail -n +2 out)" "$view: sorted"
    file_lacks out "$(printf '[\033\t]')" "$view: no control characters"
    run_expect_status 0 "render --view $view" "$FLAME" render --view "$view" off.flame
    ok "$view: well-formed" python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' out
    file_lacks out '<script>[^<]*run' "$view: a name is no script"
    file_lacks out '_\[[kwo]\]' "$view: marks are not shown"
done
"$FLAME" fold --view off off.flame >off.folded
ok 'off is the default' cmp off.folded default.folded
for view in offwake chain; do
    is_int "$("$FLAME" fold --view "$view" off.flame | awk '/^#/ {next} {n += $NF} END {print n}')" \
        "$(awk '/^#/ {next} {n += $NF} END {print n}' off.folded)" "$view: as wide as off"
done

"$FLAME" render off.flame >off.svg
file_has off.svg '>Off-CPU time<' 'its title'
file_has off.svg '<title>w:  \[1m&lt;script&gt; \(96.30 ms, 96,300 µs, 93.93%\)' 'times for people'
"$FLAME" render --view chain off.flame >chain.svg
file_has chain.svg '>Off-CPU wake chains<' 'the title of chains'
run_expect_status 0 'a page' "$FLAME" render -o x.html off.flame
for title in 'Off-CPU time' Wakeups 'Off-CPU time and wakers' 'Off-CPU wake chains' 'I/O waits' \
    'Run-queue latency' 'On-CPU time' 'Hot and cold'; do
    file_has x.html "\"$title\"" "the page has '$title'"
done
run_expect_status 0 'top' "$FLAME" top --view wakeup off.flame
file_has out 'Wakeups: 98.30 ms' 'top knows view and unit'

# filters
run_expect_status 0 'fold --comm' "$FLAME" fold --comm app --comm none off.flame
is_int "$(grep -vc '^#' out)" 3 'the stacks of one thread'
is_str "$(cat err)" 'flame: left out 0.096 s of 0.103 s; of other threads 0.096 s' \
    'what was left out, of what'
run_expect_status 0 'fold --exclude' "$FLAME" fold --exclude '^nano' --exclude load off.flame
is_int "$(grep -vc '^#' out)" 3 'stacks without such frames'
file_has err 'with an excluded frame 0.008 s$' 'and how much the others were'
run_expect_status 0 'fold --idle' "$FLAME" fold --idle off.flame
file_lacks out pthread_cond_wait 'a worker waits for work'
is_str "$(tr -cd '\033' <err)" '' 'thread names are harmless on a terminal'
file_has err 'idle 0.091 s of 1 thread \(w;' 'who it was is said'
# The commands that fold a trace themselves take the same options; text refuses them.
for command in 'render -f folded' top 'render -f html'; do
    # shellcheck disable=SC2086 # a command with its options
    run_expect_status 0 "$command --idle --pid --tid" "$FLAME" $command --idle --pid --tid off.flame
    file_lacks out pthread_cond_wait "$command: a worker waits for work"
    file_has out 'app-[0-9]' "$command: a process has its number"
    file_has err 'idle 0.091 s of 1 thread \(w;' "$command: who it was is said"
done
"$FLAME" fold off.flame >off.folded
for option in --idle --pid --tid; do
    rm -f refused.svg
    run_expect_status 2 "folded text refuses $option" "$FLAME" render $option -o refused.svg off.folded
    is_str "$(cat err)" "flame: render: off.folded: $option is of traces, and this is folded already; give it to 'flame fold'" \
        'in one line'
    is_int "$(find . -name refused.svg | wc -l)" 0 'and nothing is written'
done
run_expect_status 0 'there is none in an empty text' "$FLAME" render --pid -o empty.svg /dev/null
run_expect_status 0 'all left out' "$FLAME" fold --comm nobody off.flame
is_int "$(grep -vc '^#' out)" 0 'leaves nothing'
run_expect_status 2 'no regular expression' "$FLAME" fold --exclude 'a[' off.flame
is_int "$(wc -l <err)" 1 'in one line'
is_str "$(cat out)" '' 'before anything is written'

# what does not go together
run_expect_status 2 'a view of memory' "$FLAME" fold --view alloc off.flame
file_has err "off.flame: a trace of waiting; there is no view 'alloc' of it, but off, wakeup" \
    'the line says which there are'
run_expect_status 2 'an unknown view' "$FLAME" render --view nope off.flame
file_has err 'render: --view nope: expected alloc, .* or hotcold' 'the line lists them'
compile_victim keeper
"$FLAME" mem -q -o mem.flame -- ./keeper >/dev/null 2>&1
run_expect_status 2 'a view of waiting of memory' "$FLAME" fold --view chain mem.flame
file_has err "mem.flame: a trace of memory; there is no view 'chain' of it, but alloc" 'says so'
run_expect_status 2 'both kinds at once' "$FLAME" fold mem.flame off.flame
file_has err 'off.flame: a trace of waiting' 'names the one that does not fit'
run_expect_status 2 '--idle of memory' "$FLAME" fold --idle mem.flame
file_has err 'idle is for traces of .flame off' 'says what it is for'

# damage
head -c 10000 off.flame >cut.flame
run_expect_status 2 'a trace that is cut' "$FLAME" fold cut.flame
is_int "$(wc -l <err)" 1 'in one line'
done_testing
