#!/bin/bash
# flame watch: moments of a process that is recorded already, by its number or its trace.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/moments.sh"

# sums FILE: live bytes by moment.
sums() {
    "$FLAME" dump -s moment "$1" | awk '
        { for (i = 2; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] } }
        / monotonic_ns=/ { if (seen++) printf "%.0f ", bytes }
        / of=/ { bytes += v["bytes"] }
        END { printf "%.0f\n", bytes }'
}

# run_staged TRACE: the victim with the recorder alone; $victim.
run_staged() {
    rm -f to from
    mkfifo to from
    LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/$1 ./staged <to >from &
    victim=$!
    exec 7>to 8<from
}

# watched FILE N: FILE has N moments.
watched() {
    until_true has_moments "$1" "$2"
}
has_moments() {
    [ -e "$1" ] && [ "$("$FLAME" dump -s moment "$1" | grep -c ' monotonic_ns=')" -ge "$2" ]
}

# ---- by its number, until it ends ----

run_staged live.flame
stage a 5
"$FLAME" watch --every 1000s "$victim" 2>watch.err &
watch=$!
watched live.flame.moments 1
stage b 4
kill -USR1 "$watch"
watched live.flame.moments 2
is_str "$(sums live.flame.moments)" '5000 7000' 'a process that runs is watched by its number'
run "$FLAME" fold --from 0 live.flame
file_has out ';stage_b 2000$' 'what it has is seen while it runs'
run_expect_status 2 'a second one' "$FLAME" watch "$victim"
file_has err '^flame: watch: .*/live\.flame\.moments: moments of this process are being taken already; see them with .*$' 'does not write over it'
stage f 1
echo q >&7
exec 7>&- 8<&-
wait "$victim"
is_int "$?" 0 'the process does not notice'
status=0
wait "$watch" || status=$? # it does not wait for the next look, which is due in 1000 s
is_int "$status" 0 'the end of the process ends it'
is_str "$(sums live.flame.moments)" '5000 7000 6500' 'with a last moment'
is_int "$("$FLAME" dump -s moment live.flame.moments | grep -c ' last=1 ')" 1 'that says so'
file_has watch.err "^flame: 3 moments in .*/live\.flame\.moments; see one with 'flame fold --at TIME .*/live\.flame'\$" 'and a line'
first=$("$FLAME" dump -s moment live.flame.moments | sed -n 's/.* id=0 .* us=\([0-9]*\) .*/\1/p')
run "$FLAME" fold --at "${first}us" live.flame
is_str "$(sed -n 's/^[^#].*;//p' out)" 'stage_a 5000' 'moments beside a trace are found'
run "$FLAME" fold --view live live.flame
file_has out ';stage_b 1500$' 'and its end is as ever'

# ---- by its trace, until it is told ----

run_staged again.flame
stage a 2
"$FLAME" watch -q --every 1k again.flame 2>watch.err &
watch=$!
watched again.flame.moments 1
stage a 3
watched again.flame.moments 2
kill -TERM "$watch"
wait "$watch"
is_int "$?" 0 'a signal ends it'
is_str "$(cat watch.err)" '' 'quietly if it is to be'
is_str "$(sums again.flame.moments)" '2000 5000 5000' 'by growth, and with a moment at the end'
stage a 1
"$FLAME" watch -q --every 1000s again.flame 2>watch.err &
watch=$!
watched again.flame.moments 4
stage b 2
kill -USR1 "$watch"
watched again.flame.moments 5
kill -TERM "$watch"
wait "$watch"
is_int "$?" 0 'it can be watched again'
is_str "$(cat watch.err)$(sums again.flame.moments)" '2000 5000 5000 6000 7000 7000' 'and goes on where it was'
is_str "$("$FLAME" dump -s moment again.flame.moments | sed -n 's/.* id=[0-9]* .* us=\([0-9]*\) .*/\1/p' | sort -nc 2>&1)" '' \
    'in order of time'
is_str "$(ls again.flame.*)" 'again.flame.moments' 'with nothing beside it'
mv again.flame.moments old
ln -s again.flame link.flame
"$FLAME" watch -q link.flame &
watch=$!
watched again.flame.moments 1
kill -HUP "$watch"
wait "$watch"
is_int "$?" 0 'it can be watched anew'
is_str "$(sums again.flame.moments | sed 's/ .*//')" '7000' 'from where it is, by a link to its trace, too'
rm again.flame.moments
"$FLAME" watch again.flame 2>watch.err &
watch=$!
watched again.flame.moments 1
rm again.flame.moments
kill -TERM "$watch"
status=0
wait "$watch" || status=$?
is_int "$status" 1 'moments that somebody has removed'
file_has watch.err '^flame: watch: again\.flame\.moments: is gone, ' 'are said to be gone'
echo q >&7
exec 7>&- 8<&-
wait "$victim"

# ---- under flame mem ----

begin mem mem -o m.flame
stage a 3
kept_trace=$(echo tmp/flame-mem.*/*.flame)
"$FLAME" watch -q --every 1000s "$kept_trace" &
watch=$!
watched "$kept_trace.moments" 1
stage a 4
kill -USR1 "$watch"
watched "$kept_trace.moments" 2
kill -TERM "$watch"
wait "$watch"
finish
is_str "$(sums m.flame)" '3000 7000 7000' 'what was watched of flame mem is in its trace'
is_str "$(ls tmp)" '' 'and nothing is left'

# One of two programs is sampled: the summary of moments and the moments in the trace agree.
rm -f to from
mkfifo to from
"$FLAME" mem -q -o w.flame -- sh -c './staged; exit 0' <to >from &
recorder=$!
exec 7>to 8<from
stage a 3
kept_trace=$(echo tmp/flame-mem.*/staged.*.flame)
"$FLAME" watch --every 1000s "$kept_trace" 2>watch.err &
watch=$!
watched "$kept_trace.moments" 1
stage a 4
kill -USR1 "$watch"
watched "$kept_trace.moments" 2
kill -TERM "$watch"
wait "$watch"
finish
file_has watch.err '^flame: 3 moments of process [0-9]+; they go with what the run that records it writes if that is a trace ' \
    'a name that goes with the run is not told'
is_int "$(find . -name 'w*.flame' | wc -l)" 2 'two programs are recorded'
for command in 'fold' 'render -f folded -o -'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 0 "flame $command: the moments" "$FLAME" $command --at 600 w.flame
    is_str "$(sed -n 's/^[^#].*;//p' out)" 'stage_a 7000' '  are found'
    is_int "$(grep -c 'no moments were taken of 1 of 2 traces (w.flame), which are left out' err)" 1 \
        '  and whose there are none is told'
done
"$FLAME" diff --from 0 w.flame >compared 2>err
is_int "$(grep -c 'no moments were taken' err)" 1 'of a comparison it is told once'
file_has compared 'stage_a 0 7000$' 'flame diff has them, too'
"$FLAME" mem -q -o none.flame -- sh -c './staged </dev/null; exit 0' >/dev/null
for command in 'fold --at' 'render --at' 'top --at' 'diff --from'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 2 "flame $command: where there are none" "$FLAME" $command 1 none.flame
    is_int "$(grep -c "none.flame: ${command#* }: no moments were taken of it" err)" 1 '  it is told once'
done

# ---- what is wrong ----

run_expect_status 2 'nobody' "$FLAME" watch
run_expect_status 2 'two' "$FLAME" watch 1 2
run_expect_status 2 'a process that is not there' "$FLAME" watch 2147483646
file_has err '^flame: watch: there is no process 2147483646$' 'is not watched'
run_expect_status 2 'one that is not recorded' "$FLAME" watch $$
file_has err "^flame: watch: process $$ is not recorded, or you may not inspect it; start it with 'flame mem', or see flame-preload\\(7\\)\$" 'neither'
run_expect_status 2 'a trace of one that has ended' "$FLAME" watch live.flame
file_has err '^flame: watch: live\.flame: its process \([0-9]*\) does not write to it any more$' 'neither'
run_expect_status 2 'no trace' "$FLAME" watch watch.err
run_expect_status 2 'no file' "$FLAME" watch nowhere
run_expect_status 2 'no time' "$FLAME" watch --every soon live.flame
file_has err 'watch: --every soon: expected a time such as ' 'is said'
done_testing
