#!/bin/bash
# --at, --from and --to of fold, render, top and diff: the live blocks at a moment of a recording, and
# the growth between two, exactly; the chosen moments are reported, and invalid requests refused.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/moments.sh"

begin rec mem --moments=USR1 -o x.flame
four_moments

# Times of the moments, in seconds from the beginning, as --at takes them.
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

at "$t0" 'stage_a 10000' 'fold --at has the first moment'
is_str "$(cat err)" '' 'fold --at of an exact time prints nothing'
file_has out "^# flame: view=live unit=bytes time=${t0%%0}*\$" 'fold --at: the first line has the time'
at "$t1" 'stage_a 10000,stage_b 10000' 'fold --at has the second moment'
at "$t2" 'stage_a 11000,stage_b 7500' 'fold --at has the third moment, with less live'
at "$t3" 'stage_a 11000,stage_b 7500' 'fold --at of live blocks has no mappings'
at "$t4" 'stage_a 11000,stage_b 7500' 'fold --at has the last moment'
read -r _ us1 us2 _ < <("$FLAME" dump -s moment x.flame | sed -n 's/.* us=\([0-9]*\) .*/\1/p' | tr '\n' ' ')
between=$(((us1 + us2) / 2))us
at "$between" 'stage_a 10000,stage_b 10000' 'fold --at between two moments has the earlier'
shown=$(sed -n 's/^# flame: .* time=\([0-9.]*\)$/\1/p' out)
at "$shown" 'stage_a 10000,stage_b 10000' 'fold --at accepts the time that it prints'
is_str "$(cat err)" '' 'fold --at of the time that it prints, prints nothing'
begin late mem --moments=USR1 -o late.flame
stage a 1
moment
sleep 0.1
stage a 1
moment
finish
late=$("$FLAME" dump -s moment late.flame | sed -n 's/.* id=1 .* us=\([0-9]*\) .*/\1/p')
run "$FLAME" fold --at "$((late - 1))us" late.flame
is_str "$(stacks out)" 'stage_a 1000' 'fold --at a microsecond before a moment has the one before'
like "$(cat err)" '^flame: --at: the moment at 0\.[0-9]* s, the last one at or before [0-9.]* s$' \
    'fold --at reports a moment that is much earlier'
at 0 '' 'fold --at 0 has no blocks'
is_str "$(cat err)" '' 'fold --at 0 prints nothing'
at 1000000 '' 'fold --at after the end has no blocks'
file_has err '^flame: --at: no recorded process was there 1000000 s after the beginning; the last moment of any is at ' \
    'fold --at after the end says so'
run "$FLAME" fold --view live x.flame
cp out end.folded
run "$FLAME" fold --at "$t4" x.flame
is_str "$(grep -v '^#' out)" "$(grep -v '^#' end.folded)" 'fold --at the last moment equals --view live'
run "$FLAME" fold --at "$t2" --view mmap x.flame
is_str "$(stacks out)" '' 'fold --at --view mmap before a mapping is empty'
run "$FLAME" fold --at "$t3" --view mmap x.flame
like "$(cat out)" '(stage_map|\[[a-z ]*\]) 1048576' 'fold --at --view mmap after a mapping has it'
file_has out "^# flame: view=mmap unit=bytes time=" 'fold --at --view mmap: the first line has view and time'

# ---- two moments ----

run "$FLAME" fold --from "$t0" --to "$t2" x.flame
is_str "$(stacks out)" 'stage_a 1000,stage_b 7500' 'fold --from --to has the growth between two moments'
file_has out "^# flame: view=grown unit=bytes from=[0-9.]* to=[0-9.]*\$" \
    'fold --from --to: the first line has view grown'
run "$FLAME" fold --from "$t1" --to "$t2" x.flame
is_str "$(stacks out)" 'stage_a 1000' 'fold --from --to leaves out stacks that shrank'
file_has err '^flame: 1 stack had less at the end than at the beginning, and is left out; ' \
    'fold --from --to counts stacks that shrank'
run "$FLAME" fold --from "$t1" x.flame
is_str "$(stacks out)" 'stage_a 1000' 'fold --from without --to ends at the last moment'
run "$FLAME" fold --from 0 --to "$t1" x.flame
is_str "$(stacks out)" 'stage_a 10000,stage_b 10000' 'fold --from 0 has all growth'
run "$FLAME" fold --from "$t2" --to "$t3" --view mmap x.flame
file_has out '^# flame: view=mapgrown ' 'fold --from --view mmap: the first line has view mapgrown'
like "$(cat out)" ' 1048576' 'fold --from --view mmap has the growth of mappings'

# ---- comparing, drawing, listing ----

run_expect_status 0 'diff --from --to succeeds' "$FLAME" diff --from "$t1" --to "$t2" x.flame
is_str "$(stacks out)" 'stage_a 10000 11000,stage_b 10000 7500' 'diff --from --to has both counts'
file_has out '^# flame: view=live unit=bytes from=[0-9.]* to=[0-9.]*$' \
    'diff --from --to: the first line has the times'
cp out diff.folded
run_expect_status 0 'render of diff --from --to succeeds' "$FLAME" render -o d.svg diff.folded
file_has d.svg 'Memory live from [0-9.]* s to [0-9.]* s' 'the picture of diff --from --to has the times'
run_expect_status 0 'render -o d.html of diff --from --to succeeds' "$FLAME" render -o d.html diff.folded
run_expect_status 0 'diff --at of two traces succeeds' "$FLAME" diff --at "$t1" x.flame x.flame
is_str "$(stacks out)" 'stage_a 10000 10000,stage_b 10000 10000' 'diff --at of two traces has both counts'
run_expect_status 1 'diff --fail-above with growth ends with status 1' \
    "$FLAME" diff --fail-above 5% --from "$t0" --to "$t1" x.flame
run_expect_status 0 'render --at succeeds' "$FLAME" render --at "$t1" -o m.svg x.flame
file_has m.svg "Memory live at ${t1%%0}*[0-9]* s" 'the picture of render --at has the time'
run_expect_status 0 'render --from --to succeeds' "$FLAME" render --from "$t0" --to "$t2" -o g.svg x.flame
file_has g.svg 'Memory grown from [0-9.]* s to [0-9.]* s' 'the picture of render --from --to has the times'
run_expect_status 0 'render of folded growth succeeds' \
    sh -c "'$FLAME' fold --from $t0 --to $t2 x.flame | '$FLAME' render -o g2.svg"
file_has g2.svg 'Memory grown from [0-9.]* s to [0-9.]* s' 'the picture of folded growth has the times'
run_expect_status 0 'render --at -o m.html succeeds' "$FLAME" render --at "$t1" -o m.html x.flame
run_expect_status 0 'top --at succeeds' "$FLAME" top -e --at "$t2" x.flame
like "$(head -n 1 out)" '^Memory live at [0-9.]* s: .*18,500 bytes' 'top --at prints the time'
file_has out ' 7,?500 .* stage_b$' 'top --at has the live blocks'
printf '# flame: view=live unit=bytes time=\033[31m\nmain;f 3\n' | "$FLAME" top >odd.out
file_lacks odd.out '31m' 'top does not print an invalid time'

# ---- several processes ----

begin fork mem --moments=USR1 -o f.flame
stage a 5
moment
stage k
moment 2
stage b 2
moment 2
finish
end=$("$FLAME" fold --from 0 f.flame/2 2>/dev/null | sed -n 's/.* to=\([0-9.]*\)$/\1/p')
"$FLAME" fold --view live f.flame/2 2>/dev/null | grep -v '^#' >child.end
"$FLAME" fold --at "$end" f.flame/2 2>/dev/null | grep -v '^#' >child.at
is_str "$(cat child.at)" "$(cat child.end)" 'fold --at of a child has its inherited blocks'
file_has child.at 'stage_a 5000$' 'fold --at of a child has blocks of its parent'
file_has child.at 'stage_child 700$' 'fold --at of a child has its own blocks'
when=$("$FLAME" dump -s moment f.flame | sed -n 's/.* of=\([0-9]*\) .*/\1/p' | sort -u | wc -l)
is_int "$when" 2 'the parent has two moments with changes'
run "$FLAME" fold --at 0 f.flame/2
file_has err '^flame: --at: no recorded process was there 0 s after' \
    'fold --at before the fork says that the child did not exist'
run "$FLAME" fold --from 0 f.flame f.flame/2
file_has out 'stage_a 10000$' 'fold --from of parent and child sums both'
run "$FLAME" render --from 0 -o both.svg f.flame f.flame/2
file_has both.svg 'Memory grown from 0 s' 'render --from of parent and child draws both'

# ---- errors ----

"$FLAME" mem -q -o none.flame -- true
run_expect_status 2 'fold --at of a trace without moments ends with status 2' "$FLAME" fold --at 1 none.flame
file_has err "^flame: none\.flame: --at: no moments were taken of it; record it with 'flame mem --moments -o x\.flame', or use 'flame watch' while it runs\$" \
    'fold --at of a trace without moments says why'
for command in "fold" "top" "render"; do
    run_expect_status 2 "$command --at --from ends with status 2" "$FLAME" $command --at 1 --from 1 x.flame
    file_has err "^flame: $command: --at is one moment" "$command --at --from says why"
    run_expect_status 2 "$command --to without --from ends with status 2" "$FLAME" $command --to 1 x.flame
    run_expect_status 2 "$command --from after --to ends with status 2" \
        "$FLAME" $command --from 2 --to 1 x.flame
    run_expect_status 2 "$command --at --view peak ends with status 2" \
        "$FLAME" $command --at 1 --view peak x.flame
    file_has err "^flame: $command: --view peak is of the whole recording; moments have the views live and mmap\$" \
        "$command --at --view peak says why"
    run_expect_status 2 "$command --at soon ends with status 2" "$FLAME" $command --at soon x.flame
    run_expect_status 2 "$command --at of folded text ends with status 2" "$FLAME" $command --at 1 end.folded
    file_has err 'end\.folded: --at is of traces, and this is folded already' \
        "$command --at of folded text says why"
done
run_expect_status 2 'diff --from of two traces ends with status 2' "$FLAME" diff --from 1 x.flame x.flame
file_has err '^flame: diff: --from and --to compare two moments of one trace; got 2 files$' \
    'diff --from of two traces says why'
run_expect_status 2 'diff --from of a stream ends with status 2' "$FLAME" diff --from 1 - <x.flame
file_has err '^flame: diff: --from reads the trace twice; name a file$' 'diff --from of a stream says why'
run "$FLAME" fold --at "$t1" - <x.flame
is_str "$(stacks out)" 'stage_a 10000,stage_b 10000' 'fold --at of a stream has the moment'
done_testing
