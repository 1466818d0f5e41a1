#!/bin/bash
# Attached to and left again and again while children end that the program does not care about:
# no call is cut short by that, ends before its time or begins its time anew.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim forker -pthread

for who in main other; do
    rm -f hold
    mkfifo hold
    ./forker $who <hold >said &
    pid=$!
    exec 3>hold
    until_true grep -q ready said
    failed=0
    for round in $(seq $((FLAME_TEST_FULL ? 40 : 14))); do
        "$FLAME" off -q -o a.folded -d $((5 + round * 7 % 60))ms -p $pid 2>err </dev/null ||
            failed=$((failed + 1))
    done
    exec 3>&-
    wait $pid
    is_int $? 0 "children of the $who thread: the program went on to its end"
    is_int $failed 0 'and was attached to each time'
    is_str "$(grep -v -e ' eintr=0 ' -e ready said)" '' 'no call returned EINTR'
    is_str "$(grep -v -e ' early=0 ' -e ready said)" '' 'nor before its time'
    # Each way out of a call waits for a CPU on a busy machine, so it is not every one.
    is_str "$(sed -n 's/^\([a-z_0-9]*\) .* late=\([0-9]*\) rounds=\([0-9]*\)$/\1 \2 \3/p' said |
        awk '$1 ~ /_600/ && $2 * 4 > $3')" '' 'nor was its time begun anew'
    for wait in epoll_30 epoll_600 sigwait_30 sigwait_600 semop_30; do
        file_has said "^$wait .*rounds=[1-9]" "$wait was tried"
    done
done
done_testing
