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
is_str "$(sums live.flame.moments)" '5000 7000' 'flame watch PID takes moments of a running process'
run "$FLAME" fold --from 0 live.flame
file_has out ';stage_b 2000$' 'fold --from shows the moments while the process runs'
run_expect_status 2 'a second flame watch of a process ends with status 2' "$FLAME" watch "$victim"
file_has err '^flame: watch: .*/live\.flame\.moments: moments of this process are being taken already; see them with .*$' \
    'a second flame watch of a process says why'
stage f 1
echo q >&7
exec 7>&- 8<&-
wait "$victim"
is_int "$?" 0 'a watched process ends with status 0'
status=0
wait "$watch" || status=$? # it does not wait for the next moment, which is due in 1000 s
is_int "$status" 0 'flame watch ends with status 0 when the process ends'
is_str "$(sums live.flame.moments)" '5000 7000 6500' 'flame watch takes a moment at the end of the process'
is_int "$("$FLAME" dump -s moment live.flame.moments | grep -c ' last=1 ')" 1 \
    'the moment at the end of the process is marked as the last'
file_has watch.err "^flame: 3 moments in .*/live\.flame\.moments; see one with 'flame fold --at TIME .*/live\.flame'\$" \
    'flame watch prints where the moments are'
first=$("$FLAME" dump -s moment live.flame.moments | sed -n 's/.* id=0 .* us=\([0-9]*\) .*/\1/p')
run "$FLAME" fold --at "${first}us" live.flame
is_str "$(sed -n 's/^[^#].*;//p' out)" 'stage_a 5000' 'fold --at finds moments beside the trace'
run "$FLAME" fold --view live live.flame
file_has out ';stage_b 1500$' 'the trace of a watched process has its live blocks of the end'

# ---- by its trace, until a signal ----

run_staged again.flame
stage a 2
"$FLAME" watch -q --every 1k again.flame 2>watch.err &
watch=$!
watched again.flame.moments 1
stage a 3
watched again.flame.moments 2
kill -TERM "$watch"
wait "$watch"
is_int "$?" 0 'SIGTERM ends flame watch with status 0'
is_str "$(cat watch.err)" '' 'flame watch -q prints nothing'
is_str "$(sums again.flame.moments)" '2000 5000 5000' \
    'flame watch --every 1k takes moments by growth, and one at its end'
stage a 1
"$FLAME" watch -q --every 1000s again.flame 2>watch.err &
watch=$!
watched again.flame.moments 4
stage b 2
kill -USR1 "$watch"
watched again.flame.moments 5
kill -TERM "$watch"
wait "$watch"
is_int "$?" 0 'a second flame watch after the first ends with status 0'
is_str "$(cat watch.err)$(sums again.flame.moments)" '2000 5000 5000 6000 7000 7000' \
    'a second flame watch after the first appends moments'
is_str "$("$FLAME" dump -s moment again.flame.moments | sed -n 's/.* id=[0-9]* .* us=\([0-9]*\) .*/\1/p' | sort -nc 2>&1)" '' \
    'moments of two flame watch are in order of time'
is_str "$(ls again.flame.*)" 'again.flame.moments' 'flame watch leaves only the file of moments'
mv again.flame.moments old
ln -s again.flame link.flame
"$FLAME" watch -q link.flame &
watch=$!
watched again.flame.moments 1
kill -HUP "$watch"
wait "$watch"
is_int "$?" 0 'flame watch by a symbolic link ends with status 0'
is_str "$(sums again.flame.moments | sed 's/ .*//')" '7000' \
    'flame watch by a symbolic link begins a new file beside the trace'
rm again.flame.moments
"$FLAME" watch again.flame 2>watch.err &
watch=$!
watched again.flame.moments 1
rm again.flame.moments
kill -TERM "$watch"
status=0
wait "$watch" || status=$?
is_int "$status" 1 'flame watch whose file of moments was removed ends with status 1'
file_has watch.err '^flame: watch: again\.flame\.moments: is gone with its moments: ' \
    'flame watch whose file of moments was removed says so'
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
is_str "$(sums m.flame)" '3000 7000 7000' 'moments of flame watch are in the trace of flame mem'
is_str "$(ls tmp)" '' 'flame mem with flame watch leaves no file in TMPDIR'

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
    'flame watch of a run names no file that the run removes'
is_int "$(traces_in w.flame | wc -l)" 2 'flame mem of two programs keeps two traces'
for command in 'fold' 'render -f folded -o -'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 0 "flame $command --at of one watched program of two succeeds" \
        "$FLAME" $command --at 600 w.flame
    is_str "$(sed -n 's/^[^#].*;//p' out)" 'stage_a 7000' \
        "flame $command --at of one watched program of two has its moment"
    is_int "$(grep -c 'no moments were taken of 1 of 2 traces (w.flame/1), which are left out' err)" 1 \
        "flame $command --at names the program without moments"
done
"$FLAME" diff --from 0 w.flame >compared 2>err
is_int "$(grep -c 'no moments were taken' err)" 1 'flame diff --from names the program without moments once'
file_has compared 'stage_a 0 7000$' 'flame diff --from has the moment'
"$FLAME" mem -q -o none.flame -- sh -c './staged </dev/null; exit 0' >/dev/null
for command in 'fold --at' 'render --at' 'top --at' 'diff --from'; do
    # shellcheck disable=SC2086 # words
    run_expect_status 2 "flame $command of a trace without moments ends with status 2" \
        "$FLAME" $command 1 none.flame
    is_int "$(grep -c "none.flame/1: ${command#* }: no moments were taken of it" err)" 1 \
        "flame $command of a trace without moments says so once"
done

# ---- what is wrong ----

run_expect_status 2 'flame watch without a process ends with status 2' "$FLAME" watch
run_expect_status 2 'flame watch with two processes ends with status 2' "$FLAME" watch 1 2
run_expect_status 2 'flame watch of an unused process id ends with status 2' "$FLAME" watch 2147483646
file_has err '^flame: watch: there is no process 2147483646$' 'flame watch of an unused process id says so'
run_expect_status 2 'flame watch of an unrecorded process ends with status 2' "$FLAME" watch $$
file_has err "^flame: watch: process $$ is not recorded, or you may not inspect it; start it with 'flame mem', or see flame-preload\\(7\\)\$" \
    'flame watch of an unrecorded process says so'
run_expect_status 2 "flame watch of an ended process's trace ends with status 2" "$FLAME" watch live.flame
file_has err '^flame: watch: live\.flame: its process \([0-9]*\) does not write to it any more$' \
    "flame watch of an ended process's trace says so"
run_expect_status 2 'flame watch of a file that is no trace ends with status 2' "$FLAME" watch watch.err
run_expect_status 2 'flame watch of a missing file ends with status 2' "$FLAME" watch nowhere
run_expect_status 2 'flame watch --every soon ends with status 2' "$FLAME" watch --every soon live.flame
file_has err 'watch: --every soon: expected a time such as ' 'flame watch --every soon says what it expects'
done_testing
