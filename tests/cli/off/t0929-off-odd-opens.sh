#!/bin/bash
# flame off: opens and closes do in a traced program what they do without, whatever comes between: threads
# that are cancelled, signals, children of vfork, other threads.
. "${0%/*}/../lib.sh"

compile_victim oddopens -pthread
echo something >file
mkfifo fifo
run timeout 120 ./oddopens fifo file
is_int "$status" 0 'nobody looks'
is_str "$(<out)" '' '... and nothing goes wrong'
for how in --in-process --no-in-process; do
    run timeout 120 "$FLAME" off $how -o x.folded -- ./oddopens fifo file
    is_int "$status" 0 "$how"
    is_str "$(<out)" '' '... and nothing goes wrong'
done
done_testing
