#!/bin/bash
# flame off: opens and closes in a traced program behave as untraced, whatever interrupts them: threads
# that are cancelled, signals, children of vfork, other threads.
. "${0%/*}/../lib.sh"

compile_victim oddopens -pthread
echo something >file
mkfifo fifo
run timeout 120 ./oddopens fifo file
is_int "$status" 0 'oddopens without flame ends with status 0'
is_str "$(<out)" '' 'oddopens without flame reports no error'
for how in --in-process --no-in-process; do
    run timeout 120 "$FLAME" off $how -o x.folded -- ./oddopens fifo file
    is_int "$status" 0 "oddopens under flame off $how ends with status 0"
    is_str "$(<out)" '' "oddopens under flame off $how reports no error"
done
done_testing
