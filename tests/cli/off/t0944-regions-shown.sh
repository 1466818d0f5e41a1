#!/bin/bash
# --region: only what threads did while a region was open; the critical
# path of regions; how long they took.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim markedregions -pthread

off --region request ./markedregions lock
is_int "$status" 0 'flame off --region succeeds'
oview off --region request >region
oview off >whole
file_has whole ';requests.*;nanosleep [0-9]+$' 'fold without --region has sleeps outside the region'
file_has whole '^holder;' 'fold without --region has the lock holder'
file_lacks region '^holder;' 'fold --region has no other thread'
file_has region ';wait_for_lock(_\[i])?;.*;futex lock [0-9]+$' 'fold --region has the wait for the lock'
# Sleeps outside: 150 + 100 ms and more; inside: 30 ms and what the machine adds.
inside=$(sum ';nanosleep [0-9]+$' <region)
outside=$(grep '^markedregions;' whole | sum ';nanosleep [0-9]+$')
ok 'fold --region drops the sleeps outside' test "$((outside - inside))" -ge 250000
ok 'fold --region keeps the sleep inside' test "$inside" -ge 30000
"$FLAME" dump -s region t.flame | sed -nE 's/.* begin_ns=([0-9]+) end_ns=([0-9]+) .*/\1 \2/p' >spans
length=$(awk '{ sum += ($2 - $1) / 1000 } END { printf "%.0f", sum }' spans)
# Page faults and time outside of calls have no times of their own: their sums are spread over the time in
# which they were measured, part of which may be in a region whose thread slept. Each sum is rounded.
ok "fold --region: the sleeps of a region fit into its duration" \
    test "$(grep -v '\[page fault\]\|\[outside calls\]' region | sum)" -le "$((length + 2))"

oview critical --region request >path
file_has path '^holder;.*;nanosleep [0-9]+$' 'the critical path of a region leads to the lock holder'
"$FLAME" fold --view critical --region request t.flame >path
file_has path '^# critical: path length=[0-9]+ .* regions=2 name=' \
    'the critical path of a region covers both intervals'
file_has path '^# critical: free gain=[0-9]+ .*name="futex lock"$' \
    'the critical path of a region has the possible gain'
gain=$(sed -nE 's/^# critical: free gain=([0-9]+) .*name="futex lock"$/\1/p' path)
ok "the possible gain is at most the region's duration" test "$((gain / 1000))" -le "$length" ||
    diag "$(cat path spans; "$FLAME" dump -s interval t.flame)"

file_has path '^# region: times=2 cut=0 sum=[0-9]+ p50=[0-9]+ p95=[0-9]+ p99=[0-9]+ max=[0-9]+ name="request"$' \
    'fold --region has the percentiles of the durations'
file_has path '^# region: slow times=1 .* name="futex lock"$' \
    'fold --region has the wait of the slowest intervals'
file_has path '^# region: held ns=[0-9]+ name="holder"$' \
    'fold --region has the lock holder of the slowest intervals'
longest=$(awk '$2 - $1 > max { max = $2 - $1 } END { printf "%.0f", max }' spans)
file_has path " max=$longest " 'fold --region has the longest duration'

"$FLAME" top --region request t.flame >out
file_has out '^region request: 2 times, p50 .* max .*; of the slowest 1% of them [0-9]+% waiting for futex lock, behind that holder$' \
    "top --region prints the percentiles and the slowest intervals' wait"
run_expect_status 0 'flame off --region -o x.svg succeeds' \
    "$FLAME" off --region request -o x.svg ./markedregions lock
file_has err '^flame: region request: 2 times, ' 'the summary of flame off --region has a line on the region'
file_has err '^flame: critical path: .* of 2 regions, ' \
    'the summary of flame off --region has the path of the regions'

# Wrong questions.
run_expect_status 2 'fold --region with an unknown name ends with status 2' \
    "$FLAME" fold --region nothing t.flame
is_str "$(cat err)" "flame: t.flame: --region nothing: there is no such region, but 'request'" \
    'fold --region with an unknown name lists the regions'
run_expect_status 2 'fold --region with --from ends with status 2' \
    "$FLAME" fold --region request --from 1 t.flame
file_has err '^flame: fold: --region says when; leave out ' 'fold --region with --from says why'
run_expect_status 2 'fold --region --view latency ends with status 2' \
    "$FLAME" fold --region request --view latency t.flame
run_expect_status 2 'flame off --no-in-process --region ends with status 2' \
    "$FLAME" off --no-in-process --region request ./markedregions lock
is_int "$(wc -l <err)" 1 'flame off --no-in-process --region prints one line'
run_expect_status 0 'flame off --region with a name that never occurs succeeds' \
    "$FLAME" off --region nothing -o y.svg ./markedregions threads
file_has err '^flame: --region nothing: no such region was seen; all of the run is shown$' \
    'flame off --region with a name that never occurs shows the whole run'
off --no-in-process ./markedregions threads
run_expect_status 2 'fold --region of a trace recorded by stops ends with status 2' \
    "$FLAME" fold --region first t.flame
file_has err 'where marks are not seen$' 'fold --region of a trace recorded by stops says why'
"$FLAME" mem -q -o m.flame true
run_expect_status 2 'fold --region of a memory trace ends with status 2' "$FLAME" fold --region x m.flame
file_has err 'a trace of memory; --region is for traces of .flame off.$' \
    'fold --region of a memory trace says why'

# Names of regions may have any bytes.
off ./markedregions names
"$FLAME" fold t.flame >out
is_int "$(grep -c '^# region: times=1 ' out)" 4 'each odd name of a region takes one line'
ok 'fold prints names of regions without control characters' test "$(grep -c "$(printf '\033')" out)" = 0

done_testing
