#!/bin/bash
# The examples of waits: their graphs and summaries show the wait of each.
. "${0%/*}/../lib.sh"

# A reporter holds a named lock while it sleeps in write_report().
run_expect_status 0 'lock.c is built' "${CC:-gcc}" -g -O1 -pthread -o lock "$ROOT/examples/lock.c"
run_expect_status 0 'flame off of the example lock succeeds' "$FLAME" off -o lock.flame -- ./lock
is_str "$(cat out)" 300 'the example lock prints its result'
file_has err '^flame: lock most waited for: futex ledger_lock, ' \
    'the summary of the example lock names the lock'
file_has err '^flame: behind that: nanosleep of reporter in write_report < reporter, ' \
    "the summary of the example lock names the holder's sleep"
"$FLAME" fold --view chain lock.flame >lock.folded
file_has lock.folded '^worker;.*;futex ledger_lock;--;futex ledger_lock_\[w\];.*reporter_\[w\];--;\[timer\]_\[w\];nanosleep_\[w\];.*;write_report_\[w\];reporter_\[w\];' \
    "the chain of the example lock: waiter, holder, the holder's sleep"

# A pool of Python threads; its functions have names from 3.12 on.
if ! command -v python3 >/dev/null; then
    skip python3 'there is no python3'
    done_testing
fi
python=python3
for p in python3.14 python3.13 python3.12; do
    ! "$p" -c 'import sys; sys.activate_stack_trampoline' 2>/dev/null || python=$p
done
# shellcheck disable=SC2016 # the inner shell's
run_expect_status 0 'flame off of the example pool.py succeeds' "$FLAME" off -o pool.flame -- \
    sh -c 'echo $$ >pid; exec "$0" "$@"' "$python" "$ROOT/examples/pool.py" 300
is_str "$(cat out)" 100 'the example pool.py prints its result'
file_has err '^flame: lock most waited for: Python lock( in |, )' \
    'the summary of the example pool.py names the Python lock'
"$FLAME" fold --view chain pool.flame >pool.folded
if "$python" -c 'import sys; sys.activate_stack_trampoline' 2>/dev/null; then
    work='py::work:[^;]*' save='.*;py::save:[^;]*_\[w\]'
    file_has err '^flame: lock most waited for: Python lock in work < .* until python3[.0-9]* in work < .* gave it back' \
        'the summary of the example pool.py names work() as waiter and holder'
    file_has err '^flame: behind that: .* in save < work < ' \
        'the summary of the example pool.py names save() as the cause'
else
    work='.*' save=
    # Python's sleep was a select before 3.11.
    file_has err '^flame: behind that: (nanosleep|select 0 fds|fsync [^ ]*) of python3' \
        "the summary of the example pool.py names the holder's sleep"
fi
# Most of the wait for the lock leads to save().
sum() { re=$1 awk '$0 ~ ENVIRON["re"] { n += $NF } END { print n + 0 }' pool.folded; }
behind=$(sum "$work;.*;futex \\[(heap|anon|stack)\\];--;.*;--;\\[(timer|disk)\\]_\\[w\\];(nanosleep|select|fsync)[^;]*$save")
ok "waits of at least 100 ms end at the saving thread's sleep ($behind us)" test "$behind" -ge 100000
rm -f "/tmp/perf-$(cat pid).map" # the names of Python's functions
done_testing
