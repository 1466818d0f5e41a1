#!/bin/bash
# flame mem --moments: live blocks while the command ran, as read from the growing
# trace, exact; in the trace after the run, beside it during the run and after a kill.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/moments.sh"

# sums FILE: live bytes and blocks by moment, summed from its entries.
sums() {
    "$FLAME" dump -s moment "$1" | awk '
        { for (i = 2; i <= NF; i++) { split($i, kv, "="); v[kv[1]] = kv[2] } }
        / monotonic_ns=/ { if (seen++) printf "%.0f %.0f\n", bytes, blocks }
        / of=/ { bytes += v["bytes"]; blocks += v["blocks"] }
        END { printf "%.0f %.0f\n", bytes, blocks }'
}

# ---- on a signal: at moments that the test chooses ----

begin sig mem --moments=USR1 -o s.flame
four_moments
is_int "$status" 0 "flame mem --moments ends with the command's status"
is_str "$(sums s.flame)" '10000 10
20000 30
18500 26
1067076 27
1067076 27' 'each moment has its live and mapped bytes, the last one those of the end'
is_int "$("$FLAME" dump -s moment s.flame | grep -c ' last=1 ')" 1 'one moment is marked as the last'
is_int "$("$FLAME" dump -s moment s.flame | grep -c ' of=4 ')" 0 'a moment without changes has no entry'
is_int "$("$FLAME" dump -s moment s.flame | grep -c ' of=2 ')" 2 'a moment has entries of changed stacks only'
is_int "$("$FLAME" dump -s moment s.flame | sed -n 's/.* rss_bytes=\([0-9]*\) last=0 .*/\1/p' | awk '$1 > 100000' | wc -l)" \
    4 'a moment has the resident memory of the process'
file_has sig.err '^flame: staged: allocated ' 'the summary with --moments has the allocated bytes'
is_str "$(ls tmp)" '' 'flame mem --moments leaves no file in TMPDIR'
"$FLAME" fold --view live s.flame >end.folded
file_has end.folded ';stage_b 7500$' 'a trace with moments has the live blocks of the end'

# ---- beside the trace while it is written ----

begin run mem --moments=USR1 -o r.flame
stage a 3
moment
is_str "$(sums tmp/flame-mem.*/*.moments)" '3000 3' 'moments can be read while the command runs'
is_str "$(stat -c %a tmp/flame-mem.*/*.moments)" 600 'the file of moments has mode 600'
stage b 2
moment
victim=$(sed -n 's/.* pid=\([0-9]*\) .*/\1/p' < <("$FLAME" dump -s header tmp/flame-mem.*/*.flame) | head -n 1)
kill -9 "$recorder"
wait "$recorder" 2>/dev/null
is_str "$(sums tmp/flame-mem.*/*.moments)" '3000 3
4000 5' 'moments stay when flame is killed'
kill -9 "$victim" 2>/dev/null
exec 7>&- 8<&-
removed() { # when the program has gone, too
    "$FLAME" mem -q -o x.folded true
    [ -z "$(ls tmp)" ]
}
ok 'moments of a killed flame are removed by the next run' comes_true removed

# ---- killed, executed, forked ----

begin kill mem --moments=USR1 -o k.flame
stage a 5
moment
victim=$(sed -n 's/.* pid=\([0-9]*\) .*/\1/p' < <("$FLAME" dump -s header tmp/flame-mem.*/*.flame) | head -n 1)
kill -9 "$victim"
exec 7>&- 8<&-
wait "$recorder" 2>/dev/null
is_str "$(sums k.flame)" '5000 5
5000 5' 'moments of a killed program are in its trace'

begin exec mem --moments=USR1 -o e.flame
stage a 5
moment
stage x
stage a 2
moment 2
finish
is_str "$(sums e.flame)" '5000 5
5000 5' 'moments of a program that executes another are in its trace'
is_str "$(sums e.flame/2)" '2000 2
2000 2' 'moments of the executed program are in its own trace'
end=$("$FLAME" dump -s moment e.flame | sed -n 's/.* monotonic_ns=\([0-9]*\) .* last=1 .*/\1/p')
next=$("$FLAME" dump -s header e.flame/2 | sed -n 's/.* start_monotonic_ns=\([0-9]*\) .*/\1/p')
is_str "$end" "$next" 'moments of a program end where those of the executed one begin'

begin fork mem --moments=USR1 -o f.flame
stage a 5
moment
stage k
moment 2
finish
is_str "$(sums f.flame | tail -n 1)" '5000 5' 'moments of a parent are in its trace'
is_str "$(sums f.flame/2 | head -n 1)" '700 7' "moments of a forked child are in the child's trace"

# ---- by itself, by time, by bytes ----

# until N: stages until so many moments are there.
begin auto mem --moments -o a.flame
for _ in 1 2 3; do
    stage a 10
    wait_moments 2
done
finish
is_str "$(sums a.flame | tail -n 1)" '30000 30' '--moments takes moments by itself'
begin time mem --moments=20ms -o t.flame
stage a 10
wait_moments 3
finish
is_str "$(sums t.flame | tail -n 1)" '10000 10' '--moments=20ms takes moments at that interval'
begin bytes mem --moments=100k -o b.flame
wait_moments 1
stage a 50
sleep 0.3 # in which a sample finds too little growth
stage a 60
wait_moments 1
stage b 10
stage f 10
stage m
wait_moments 1
finish
is_str "$(sums b.flame | tail -n 1)" '1158576 111' '--moments=100k takes moments as live bytes grow'
is_int "$(sums b.flame | sort -u | wc -l)" "$(sums b.flame | uniq | wc -l)" \
    '--moments=100k: moments are in order'
is_int "$(sums b.flame | awk 'NR > 1 && NR < n { d = $1 - before; if (d < 0) d = -d; bad += d < 102400 } { before = $1 } END { print bad + 0 }' n="$(sums b.flame | wc -l)")" 0 \
    '--moments=100k: moments differ by at least 100k'

# ---- together with waiting ----

begin both run --moments=USR1 -o both.flame
stage a 4
moment
finish
is_str "$(sums both.flame)" '4000 4
4000 4' 'flame run --moments takes moments'

# flame run has the longest preparation before the command begins.
start=$("$FLAME" dump -s header both.flame | sed -n 's/.* start_monotonic_ns=\([0-9]*\) .*/\1/p')
is_int "$("$FLAME" dump -s moment both.flame | sed -n 's/.* monotonic_ns=\([0-9]*\) us=\([0-9]*\) .*/\1 \2/p' |
    start=$start awk '{ us = ($1 - ENVIRON["start"]) / 1000; n += us <= $2 && $2 < us + 1 } END { print n + 0 }')" \
    "$("$FLAME" dump -s moment both.flame | grep -c ' us=')" \
    'times of moments count from the start of the first process'

# ---- what is wrong ----

run_expect_status 2 'flame mem --moments -o x.svg ends with status 2' "$FLAME" mem --moments -o x.svg -- true
file_has err '^flame: mem: --moments: -o x\.svg has no room for moments; take one that ends in \.flame or \.html$' \
    'flame mem --moments -o x.svg says why'
for bad in 0s fast 12q USR3 -1 k ''; do
    run_expect_status 2 "flame mem --moments='$bad' ends with status 2" \
        "$FLAME" mem "--moments=$bad" -o x.flame -- true
    file_has err "mem: --moments $bad: expected a time such as " \
        "flame mem --moments='$bad' says what it expects"
done
done_testing
