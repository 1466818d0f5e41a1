#!/bin/bash
# Summary of several processes: their memory at once, and the number of stacks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim family
compile_victim keeper
use_own_tmpdir

bytes_of() { # WORDS-BEFORE: the exact number of bytes
    grep -Eo "$1[^;(]*" err | grep -Eo '[0-9,]+ bytes' | head -n 1 | tr -d ', a-z'
}

# Each of the twenty is seen to have ended before the next one begins.
cat >one_by_one <<'EOS'
for i in $(seq 20); do
    ./keeper keep:1000000
    for n in $(seq 200); do
        ls "$TMPDIR"/flame-mem.*/keeper.*.flame || break
        sleep 0.05
    done
done >/dev/null 2>&1
EOS
run_expect_status 0 'flame mem of twenty processes in turn succeeds' "$FLAME" mem -o x.svg -- bash ./one_by_one
file_has err 'peak .* in the largest process \(keeper [0-9]+\)' 'twenty processes in turn: the largest is named'
ok 'twenty processes in turn: the largest has its own peak' \
    test "$(bytes_of 'peak ')" -ge 1000000 -a "$(bytes_of 'peak ')" -lt 1100000
ok 'twenty processes in turn: the sum at once is hardly more' \
    test "$(bytes_of 'at most ')" -ge 1000000 -a "$(bytes_of 'at most ')" -lt 2000000

mkfifo go
cat >together <<'EOS'
for i in $(seq 20); do ./keeper keep:1000000 wait <go & done >said
exec 9>go
until [ "$(grep -c ready said)" = 20 ]; do sleep 0.05; done
exec 9>&-
wait
EOS
run_expect_status 0 'flame mem of twenty processes at once succeeds' "$FLAME" mem -o x.svg -- bash ./together
ok 'twenty processes at once: the sum at once has all of them' test "$(bytes_of 'at most ')" -ge 20000000
run_expect_status 0 'flame mem -o t.flame of twenty processes succeeds' \
    "$FLAME" mem -o t.flame -- bash ./together
file_has err 'in the largest process' 'the summary of kept traces has the largest process'
file_lacks err 'at once|at its own' 'the summary of kept traces has no sum at once'

stacks() { grep -Eo '[0-9,]+ stacks' err | tr -d ', a-z'; }
run "$FLAME" mem -o x.folded --view count -- ./family 40 400 1
one=$(stacks)
ok 'a child has some stacks' test "$one" -ge 42
run "$FLAME" mem -o x.folded --view count -- ./family 40 400 25
is_int "$(stacks)" "$one" 'twenty-five children: inherited stacks do not count again'
run "$FLAME" mem -o t.flame -- ./family 40 400 25
is_int "$(stacks)" "$one" 'twenty-five children with kept traces: inherited stacks do not count again'

# An earlier process had the number of one of these, and left a map of names. It says nothing of this one, whose
# sums belong to the program's.
cat >with_map <<'EOS'
(touch -d '1 hour ago' "$1/perf-$BASHPID.map"; echo "$1/perf-$BASHPID.map" >left; exec ./family 40 400 1)
./family 40 400 1
EOS
mkdir elsewhere
run "$FLAME" mem -o x.folded --view count -- bash ./with_map elsewhere
one=$(stacks)
run "$FLAME" mem -o x.folded --view count -- bash ./with_map /tmp
rm -f "$(cat left)"
is_int "$(stacks)" "$one" 'a map of names that an earlier process left: equal stacks count once'

# Startup is part of the cost of recording, also in forked children and executed programs:
# most of them do nothing else.
rm -f t*.flame
run "$FLAME" mem -o t.flame -- sh -c './family 1 1 25; ./keeper; ./keeper; true'
starts=$(for f in $(seq -f t.flame/%.0f 29); do
    "$FLAME" dump "$f" | grep -o 'startup_ns=[0-9]*' | cut -d= -f2
done)
is_int "$(wc -w <<<"$starts")" 29 'twenty-nine processes have a startup time'
is_int "$(grep -cx 0 <<<"$starts")" 0 'no startup time is 0'
said=$(grep -o 'recording cost about [0-9.]* [^ ,]*s' err | awk '{
    print $4 * ($5 == "s" ? 1e9 : $5 == "ms" ? 1e6 : $5 == "ns" ? 1 : 1e3) }')
ok 'the cost of recording has the startup times' \
    awk "BEGIN { exit !($said * 1.01 >= $(tr '\n' '+' <<<"$starts")0) }"
done_testing
