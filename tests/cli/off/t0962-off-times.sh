#!/bin/bash
# Times of waits where runs are not simple: an attached process, exec, forks, more threads than a trace has
# records for, a tracer that is killed, no room on the disk. All that is recorded adds up to the rows.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim naps -O1 -pthread
check() { # NAME TRACE
    "$FLAME" dump -o all.txt "$2"
    run_expect_status 0 "$1: intervals add up to the rows" python3 "$ROOT/tests/cli/check_intervals.py" all.txt -
}
# The number of rows of kind NAME that a trace has intervals of.
kinds() { # TRACE NAME
    "$FLAME" dump -s interval "$1" | grep -c " kind=$2 "
}

for how in --in-process --no-in-process; do
    run_expect_status 0 "$how: exec and forks are recorded" "$FLAME" off -q "$how" -o exec.flame -- \
        sh -c '(sleep 0.02; sleep 0.01) & sleep 0.01; wait; exec sleep 0.03'
    check "$how, exec and forks" exec.flame
    is_int "$(kinds exec.flame timer)" 4 "$how: each of the four sleeps has its time"
done

cat >threads.py <<'END'
import sys, threading, time
def nap():
    time.sleep(0.001)
for _ in range(int(sys.argv[1])):
    batch = [threading.Thread(target=nap) for _ in range(50)]
    for t in batch:
        t.start()
    for t in batch:
        t.join()
END
run_expect_status 0 'five thousand threads are recorded' "$FLAME" off -q -o threads.flame -- python3 threads.py 100
check 'five thousand threads' threads.flame
for view in chain critical off; do
    run_expect_status 0 "five thousand threads: view $view can be folded" \
        "$FLAME" fold -o "$view.folded" --view "$view" threads.flame
    ok "five thousand threads: view $view has waits" grep -q '^python3;' "$view.folded"
done
same() { test "$(($1 > $2 ? $1 - $2 : $2 - $1))" -lt 2000; }
ok 'five thousand threads: chains add up to the waits' same "$(sum . <chain.folded)" "$(sum . <off.folded)"

./naps 10 1 >naps.out &
pid=$!
until_in_call $pid 35 230
run_expect_status 0 'flame off -p succeeds' "$FLAME" off -q -d 0.3 -o p.flame -p $pid
kill $pid 2>/dev/null
wait $pid 2>/dev/null
check 'an attached process' p.flame
begin=$("$FLAME" dump p.flame | sed -n 's/.* start_monotonic_ns=\([0-9]*\).*/\1/p' | head -n 1)
ok 'an attached process: no wait begins before the recording' \
    env begin="$begin" awk 'BEGIN { begin = ENVIRON["begin"] } / begin_ns=/ { match($0, /begin_ns=[0-9]+/)
        if (substr($0, RSTART + 9, RLENGTH - 9) + 0 < begin + 0) bad = 1 } END { exit bad }' all.txt

# The result does not fit, and the recording is kept, as far as there was room for it.
(
    ulimit -f 2048 # KiB
    trap '' XFSZ
    exec "$FLAME" off -q -o full.flame -- python3 threads.py 60
) >out 2>err
status=$?
is_int "$status" 1 'without room for the result flame off ends with status 1'
file_has err 'full.flame: cannot write: File too large' 'without room for the result a line says so'
kept=$(sed -n 's/.*kept in \([^;]*\);.*/\1/p' err)
ok 'without room for the result the recording is kept' test -d "${kept:-none}"
for part in "$kept"/*.flame; do
    check 'the kept recording' "$part"
done
rm -rf "${kept:?}"
done_testing
