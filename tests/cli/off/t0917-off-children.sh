#!/bin/bash
# Repeated attach and detach while children end and the program ignores SIGCHLD:
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
    is_int $? 0 "children of the $who thread: the program runs to its end"
    is_int $failed 0 "children of the $who thread: each attach succeeds"
    is_str "$(grep -v -e ' eintr=0 ' -e ready said)" '' "children of the $who thread: no call returned EINTR"
    is_str "$(grep -v -e ' early=0 ' -e ready said)" '' \
        "children of the $who thread: no call returned before its time"
    # On a busy machine the return of each call waits for a CPU, so some may be late.
    is_str "$(sed -n 's/^\([a-z_0-9]*\) .* late=\([0-9]*\) rounds=\([0-9]*\)$/\1 \2 \3/p' said |
        awk '$1 ~ /_600/ && $2 * 4 > $3')" '' "children of the $who thread: no call began its time anew"
    for wait in epoll_30 epoll_600 sigwait_30 sigwait_600 semop_30; do
        file_has said "^$wait .*rounds=[1-9]" "children of the $who thread: $wait was called"
    done
done
done_testing
