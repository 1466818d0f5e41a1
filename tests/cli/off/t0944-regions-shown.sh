#!/bin/bash
# --region: what threads did while a region was open, and nothing of what they did outside; the critical
# path of regions; how long they took.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim markedregions -pthread

off --region request ./markedregions lock
is_int "$status" 0 'a region is recorded'
oview off --region request >region
oview off >whole
file_has whole ';requests.*;nanosleep [0-9]+$' 'all of the run has sleeps outside'
file_has whole '^holder;' 'and the thread that holds the lock'
file_lacks region '^holder;' 'the region has nothing of other threads'
file_has region ';wait_for_lock(_\[i])?;.*;futex lock [0-9]+$' 'it has the wait for the lock'
# Asleep outside: 150 + 100 ms and more; inside 30 ms and what the machine adds.
inside=$(sum ';nanosleep [0-9]+$' <region)
outside=$(grep '^markedregions;' whole | sum ';nanosleep [0-9]+$')
ok 'sleeps outside are left out' test "$((outside - inside))" -ge 250000
ok 'and the one inside is not' test "$inside" -ge 30000
"$FLAME" dump -s region t.flame | sed -nE 's/.* begin_ns=([0-9]+) end_ns=([0-9]+) .*/\1 \2/p' >spans
length=$(awk '{ sum += ($2 - $1) / 1000 } END { printf "%.0f", sum }' spans)
ok 'all in it is as long as it was' test "$(sum <region)" -le "$((length + 1000))"

oview critical --region request >path
file_has path '^holder;.*;nanosleep [0-9]+$' 'the path of a region goes to who held the lock'
"$FLAME" fold --view critical --region request t.flame >path
file_has path '^# critical: path length=[0-9]+ .* regions=2 name=' 'it is that of both regions'
file_has path '^# critical: free gain=[0-9]+ .*name="futex lock"$' 'and what could be gained is told'
gain=$(sed -nE 's/^# critical: free gain=([0-9]+) .*name="futex lock"$/\1/p' path)
ok 'which is no more than the region took' test "$((gain / 1000))" -le "$length" ||
    diag "$(cat path spans; "$FLAME" dump -s interval t.flame)"

file_has path '^# region: times=2 cut=0 sum=[0-9]+ p50=[0-9]+ p95=[0-9]+ p99=[0-9]+ max=[0-9]+ name="request"$' \
    'how long regions took'
file_has path '^# region: slow times=1 .* name="futex lock"$' 'and what the slowest waited for'
file_has path '^# region: held ns=[0-9]+ name="holder"$' 'and for whom'
longest=$(awk '$2 - $1 > max { max = $2 - $1 } END { printf "%.0f", max }' spans)
file_has path " max=$longest " 'the longest is the longest'

"$FLAME" top --region request t.flame >out
file_has out '^region request: 2 times, p50 .* max .*; of the slowest 1% of them [0-9]+% waiting for futex lock, behind that holder$' \
    'top says it in words'
run_expect_status 0 'and so does the summary' "$FLAME" off --region request -o x.svg ./markedregions lock
file_has err '^flame: region request: 2 times, ' 'in a line'
file_has err '^flame: critical path: .* of 2 regions, ' 'and the path is that of regions'

# Wrong questions.
run_expect_status 2 'a name that is not there' "$FLAME" fold --region nothing t.flame
is_str "$(cat err)" "flame: t.flame: --region nothing: there is no such region, but 'request'" 'those that are'
run_expect_status 2 'a region and a range' "$FLAME" fold --region request --from 1 t.flame
file_has err '^flame: fold: --region says when; leave out ' 'is one too many'
run_expect_status 2 'how long sleeps took' "$FLAME" fold --region request --view latency t.flame
run_expect_status 2 'from outside marks are not seen' "$FLAME" off --no-in-process --region request ./markedregions lock
is_int "$(wc -l <err)" 1 'which is one line'
run_expect_status 0 'a region that never was' "$FLAME" off --region nothing -o y.svg ./markedregions threads
file_has err '^flame: --region nothing: no such region was seen; all of the run is shown$' 'costs no recording'
off --no-in-process ./markedregions threads
run_expect_status 2 'recorded from outside' "$FLAME" fold --region first t.flame
file_has err 'where marks are not seen$' 'says why there are none'
"$FLAME" mem -q -o m.flame true
run_expect_status 2 'memory has no such times' "$FLAME" fold --region x m.flame
file_has err 'a trace of memory; --region is for traces of .flame off.$' 'and says so'

# Names are anybody's.
off ./markedregions names
"$FLAME" fold t.flame >out
is_int "$(grep -c '^# region: times=1 ' out)" 4 'each odd name is one line'
ok 'of which none has a control character' test "$(grep -c "$(printf '\033')" out)" = 0

done_testing
