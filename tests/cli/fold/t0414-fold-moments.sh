#!/bin/bash
# --at, --from and --to of fold, render, top and diff: what was live at a moment of a recording, what
# has grown between two, exactly; which moments were taken is said, and what cannot be is refused.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/moments.sh"

begin rec mem --moments=USR1 -o x.flame
four_moments

# When the moments were, in seconds from the beginning, as --at takes them.
read -r t0 t1 t2 t3 t4 < <("$FLAME" dump -s moment x.flame |
    sed -n 's/.* us=\([0-9]*\) .*/\1/p' | awk '{ printf "%.6f ", $1 / 1e6 } END { print "" }')

# stacks FILE: the innermost function and the count of each line.
stacks() {
    sed -n 's/^[^#].*;\([a-z_]*\)\( [0-9 ]*\)$/\1\2/p' "$1" | tr '\n' ',' | sed 's/,$//'
}

# at TIME WANT NAME
at() {
    run "$FLAME" fold --at "$1" x.flame
    is_str "$(stacks out)" "$2" "$3"
}

# ---- one moment ----

at "$t0" 'stage_a 10000' 'at the first moment'
is_str "$(cat err)" '' 'which is there, so that nothing is said'
file_has out "^# flame: view=live unit=bytes time=${t0%%0}*\$" 'the text says when it was'
at "$t1" 'stage_a 10000,stage_b 10000' 'at the second'
at "$t2" 'stage_a 11000,stage_b 7500' 'at the third, when less was live'
at "$t3" 'stage_a 11000,stage_b 7500' 'mappings are another view'
at "$t4" 'stage_a 11000,stage_b 7500' 'at the last'
read -r _ us1 us2 _ < <("$FLAME" dump -s moment x.flame | sed -n 's/.* us=\([0-9]*\) .*/\1/p' | tr '\n' ' ')
between=$(((us1 + us2) / 2))us
at "$between" 'stage_a 10000,stage_b 10000' 'between two it is as at the one before'
shown=$(sed -n 's/^# flame: .* time=\([0-9.]*\)$/\1/p' out)
at "$shown" 'stage_a 10000,stage_b 10000' 'the time that is said is that of a moment'
is_str "$(cat err)" '' 'exactly'
begin late mem --moments=USR1 -o late.flame
stage a 1
moment
sleep 0.1
stage a 1
moment
finish
late=$("$FLAME" dump -s moment late.flame | sed -n 's/.* id=1 .* us=\([0-9]*\) .*/\1/p')
run "$FLAME" fold --at "$((late - 1))us" late.flame
is_str "$(stacks out)" 'stage_a 1000' 'a microsecond before a moment is the one before'
like "$(cat err)" '^flame: --at: the moment at 0\.[0-9]* s, the last one at or before [0-9.]* s$' 'and where that is much older, it is said'
at 0 '' 'when the process began'
is_str "$(cat err)" '' 'it had nothing'
at 1000000 '' 'after its end'
file_has err '^flame: --at: no recorded process was there 1000000 s after the beginning; the last moment of any is at ' 'there is nothing, and that is said'
run "$FLAME" fold --view live x.flame
cp out end.folded
run "$FLAME" fold --at "$t4" x.flame
is_str "$(grep -v '^#' out)" "$(grep -v '^#' end.folded)" 'the last moment is the end'
run "$FLAME" fold --at "$t2" --view mmap x.flame
is_str "$(stacks out)" '' 'what was mapped before'
run "$FLAME" fold --at "$t3" --view mmap x.flame
like "$(cat out)" '(stage_map|\[[a-z ]*\]) 1048576' 'and behind it'
file_has out "^# flame: view=mmap unit=bytes time=" 'is a view, too'

# ---- two ----

run "$FLAME" fold --from "$t0" --to "$t2" x.flame
is_str "$(stacks out)" 'stage_a 1000,stage_b 7500' 'what has grown between two moments'
file_has out "^# flame: view=grown unit=bytes from=[0-9.]* to=[0-9.]*\$" 'is a view of its own'
run "$FLAME" fold --from "$t1" --to "$t2" x.flame
is_str "$(stacks out)" 'stage_a 1000' 'what has shrunk is left out'
file_has err '^flame: 1 stack had less at the end than at the beginning, and is left out; ' 'and counted'
run "$FLAME" fold --from "$t1" x.flame
is_str "$(stacks out)" 'stage_a 1000' 'the end is the last moment, unless another is named'
run "$FLAME" fold --from 0 --to "$t1" x.flame
is_str "$(stacks out)" 'stage_a 10000,stage_b 10000' 'from before the beginning all is growth'
run "$FLAME" fold --from "$t2" --to "$t3" --view mmap x.flame
file_has out '^# flame: view=mapgrown ' 'mappings grow, too'
like "$(cat out)" ' 1048576' 'by what was mapped'

# ---- comparing, drawing, listing ----

run_expect_status 0 'two moments are compared' "$FLAME" diff --from "$t1" --to "$t2" x.flame
is_str "$(stacks out)" 'stage_a 10000 11000,stage_b 10000 7500' 'with both counts'
file_has out '^# flame: view=live unit=bytes from=[0-9.]* to=[0-9.]*$' 'and when they were'
cp out diff.folded
run_expect_status 0 'a comparison is drawn' "$FLAME" render -o d.svg diff.folded
file_has d.svg 'Memory live from [0-9.]* s to [0-9.]* s' 'with its times'
run_expect_status 0 'also as a page' "$FLAME" render -o d.html diff.folded
run_expect_status 0 'two traces at one time' "$FLAME" diff --at "$t1" x.flame x.flame
is_str "$(stacks out)" 'stage_a 10000 10000,stage_b 10000 10000' 'are compared, too'
run_expect_status 1 'a gate' "$FLAME" diff --fail-above 5% --from "$t0" --to "$t1" x.flame
run_expect_status 0 'a moment is drawn' "$FLAME" render --at "$t1" -o m.svg x.flame
file_has m.svg "Memory live at ${t1%%0}*[0-9]* s" 'with its time'
run_expect_status 0 'growth is drawn' "$FLAME" render --from "$t0" --to "$t2" -o g.svg x.flame
file_has g.svg 'Memory grown from [0-9.]* s to [0-9.]* s' 'with both'
run_expect_status 0 'or folded before' sh -c "'$FLAME' fold --from $t0 --to $t2 x.flame | '$FLAME' render -o g2.svg"
file_has g2.svg 'Memory grown from [0-9.]* s to [0-9.]* s' 'all the same'
run_expect_status 0 'a page of a moment' "$FLAME" render --at "$t1" -o m.html x.flame
run_expect_status 0 'a moment is listed' "$FLAME" top -e --at "$t2" x.flame
like "$(head -n 1 out)" '^Memory live at [0-9.]* s: .*18,500 bytes' 'with its time'
file_has out ' 7,?500 .* stage_b$' 'and what it had'
printf '# flame: view=live unit=bytes time=\033[31m\nmain;f 3\n' | "$FLAME" top >odd.out
file_lacks odd.out '31m' 'what is no time is not shown'

# ---- several processes ----

begin fork mem --moments=USR1 -o f.flame
stage a 5
moment
stage k
moment 2
stage b 2
moment 2
finish
end=$("$FLAME" fold --from 0 f.2.flame 2>/dev/null | sed -n 's/.* to=\([0-9.]*\)$/\1/p')
"$FLAME" fold --view live f.2.flame 2>/dev/null | grep -v '^#' >child.end
"$FLAME" fold --at "$end" f.2.flame 2>/dev/null | grep -v '^#' >child.at
is_str "$(cat child.at)" "$(cat child.end)" 'a child has what it inherited at a moment, too'
file_has child.at 'stage_a 5000$' 'of its parent'
file_has child.at 'stage_child 700$' 'and of its own'
when=$("$FLAME" dump -s moment f.flame | sed -n 's/.* of=\([0-9]*\) .*/\1/p' | sort -u | wc -l)
is_int "$when" 2 'the parent has moments in which it has changed'
run "$FLAME" fold --at 0 f.2.flame
file_has err '^flame: --at: no recorded process was there 0 s after' 'and is not there before its parent has forked it'
run "$FLAME" fold --from 0 f.flame f.2.flame
file_has out 'stage_a 10000$' 'both are added up'
run "$FLAME" render --from 0 -o both.svg f.flame f.2.flame
file_has both.svg 'Memory grown from 0 s' 'and drawn'

# ---- what is wrong ----

"$FLAME" mem -q -o none.flame -- true
run_expect_status 2 'a trace without moments' "$FLAME" fold --at 1 none.flame
file_has err "^flame: none\.flame: --at: no moments were taken of it; record it with 'flame mem --moments -o x\.flame', or use 'flame watch' while it runs\$" 'is refused'
for command in "fold" "top" "render"; do
    run_expect_status 2 "$command: both" "$FLAME" $command --at 1 --from 1 x.flame
    file_has err "^flame: $command: --at is one moment" 'are two questions'
    run_expect_status 2 "$command: an end without a beginning" "$FLAME" $command --to 1 x.flame
    run_expect_status 2 "$command: turned round" "$FLAME" $command --from 2 --to 1 x.flame
    run_expect_status 2 "$command: a view of the whole" "$FLAME" $command --at 1 --view peak x.flame
    file_has err "^flame: $command: --view peak is of the whole recording; moments have the views live and mmap\$" 'is refused'
    run_expect_status 2 "$command: no time" "$FLAME" $command --at soon x.flame
    run_expect_status 2 "$command: text" "$FLAME" $command --at 1 end.folded
    file_has err 'end\.folded: --at is of traces, and this is folded already' 'has no moments'
done
run_expect_status 2 'diff of one moment' "$FLAME" diff --from 1 x.flame x.flame
file_has err '^flame: diff: --from and --to compare two moments of one trace; got 2 files$' 'takes one trace'
run_expect_status 2 'diff of a stream' "$FLAME" diff --from 1 - <x.flame
file_has err '^flame: diff: --from reads the trace twice; name a file$' 'cannot read it twice'
run "$FLAME" fold --at "$t1" - <x.flame
is_str "$(stacks out)" 'stage_a 10000,stage_b 10000' 'fold can, as it reads once'
done_testing
