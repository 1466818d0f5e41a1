#!/bin/bash
# The view that a page of waits begins with: where a lock is contended, the one with its holder, unless --view names
# another one. A picture of one view has the default view. The first row of a table of chains is a call.
. "${0%/*}/../lib.sh"

# Prints the view that a page names as its first; nothing: it begins with the first that has counts.
begins() { sed -n 's/^"view":"\([^"]*\)",$/\1/p' "$1"; }

ok 'the program with a contended lock is built' "${CC:-gcc}" -O1 -g -pthread -o lock "$ROOT/examples/lock.c"
run_expect_status 0 'flame off of it succeeds' "$FLAME" off -q -o lock.html -- ./lock
file_has lock.html '^\{"text":"The lock most waited for is futex ledger_lock' 'a finding of the page names the lock'
is_str "$(begins lock.html)" chain 'a page with a contended lock begins with chains'
file_has lock.html '^"label":"Who it waits for",$' 'the page has the words for the view'
run_expect_status 0 'flame off --view off succeeds' "$FLAME" off -q --view off -o asked.html -- ./lock
is_str "$(begins asked.html)" off 'a page with a contended lock begins with the view that --view names'
run_expect_status 0 'flame off -o x.svg succeeds' "$FLAME" off -q -o lock.svg -- ./lock
file_has lock.svg '>Off-CPU time<' 'a picture of a contended lock has the default view'

run_expect_status 0 'flame off -o x.flame succeeds' "$FLAME" off -q -o lock.flame -- ./lock
run_expect_status 0 'render of a trace with a contended lock succeeds' "$FLAME" render -o traced.html lock.flame
is_str "$(begins traced.html)" chain 'a page of the trace begins with chains'
run "$FLAME" render --no-findings -o silent.html lock.flame
is_str "$(begins silent.html)" chain 'a page of the trace with --no-findings begins with chains'
file_lacks silent.html '^"findings"' 'a page of the trace with --no-findings has no sentences'
run "$FLAME" render -o traced.svg lock.flame
file_has traced.svg '>Off-CPU time<' 'a picture of the trace has the default view'
run "$FLAME" top --view chain lock.flame
like "$(sed -n 3p out)" ' nanosleep_\[w\]$' 'flame top: the first row of chains is the call of the last waker'
run "$FLAME" top --view offwake lock.flame
like "$(sed -n 3p out)" ' futex ledger_lock_\[w\]$' 'flame top: the first row of wakers is the call of the waker'
"$FLAME" fold --view chain lock.flame >chain.folded
like "$(cat chain.folded)" '^worker;.*;reporter_\[w\] [0-9]+$' 'chains in text end with the name of a thread'

run_expect_status 0 'flame off of a program without a lock succeeds' "$FLAME" off -q -o free.html -- sleep 0.05
is_str "$(begins free.html)" '' 'a page without a contended lock begins with its first view'

# Memory comes first where both are recorded.
run_expect_status 0 'flame run of a program with a contended lock succeeds' "$FLAME" run -q -o both.html -- ./lock
is_str "$(begins both.html)" '' 'a page of memory and waits begins with its first view, of memory'
file_has both.html '^\{"name":"alloc",' 'a page of memory and waits has memory'
run_expect_status 0 'flame run --view off succeeds' "$FLAME" run -q --view off -o both.html -- ./lock
is_str "$(begins both.html)" off 'a page of memory and waits begins with the view that --view names'
done_testing
