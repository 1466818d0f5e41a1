#!/usr/bin/env bash
# `flame off` compared with the kernel's scheduler events of the same run, which perf records
# meanwhile: the time asleep of a stack within 5 %, and the same waker.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

perf record -q -a -e sched:sched_switch -e sched:sched_waking -o probe.data -- true \
    </dev/null >probe.out 2>&1 || skip_all perf-sched "perf may not see scheduler events here"
python=$(command -v /usr/bin/python3 || command -v python3)
compile_victim sleeps -O1 -fno-optimize-sibling-calls -pthread -lrt

# perf cannot follow the stacks of all of these, so the comparison is by thread and call:
# the main thread sleeps in sleeper() and, for a moment at the end, in pthread_join.
#
# measure KIND: one run under both; $truth by the scheduler and $ours by flame, us. It succeeds if both agree.
# flame's clock stops when the tracer gets to run, which on a busy machine may be late, and the event of a
# wait may come before it. Not every time; a real error would occur each time.
measure() {
    rm -f t.flame
    run timeout 100 perf record -q -a -e sched:sched_switch -e sched:sched_waking \
        -m 2048 -o p.data -- "$FLAME" off -q --min-block 0 -o t.flame ./sleeps "$1" 5 40
    timeout 100 perf script -i p.data -F comm,tid,cpu,time,event,trace 2>/dev/null |
        "$python" "$ROOT/tests/cli/perf_sleeps.py" sleeps >theirs
    ours=$(oview off --tid | sum 'sleeps;sleeps-[0-9]+;.*[;]main[; ]')
    waits=$(oview runq --tid | sum 'sleeps;sleeps-[0-9]+;.*[;]main[; ]')
    ours=$((ours - waits))
    truth=$(head -n 1 theirs)
    away=$((ours > truth ? ours - truth : truth - ours))
    close=$((truth > 50000 && away * 20 <= truth))
    # The parent of a traced child is woken by the tracer's wait, so for it the
    # scheduler names the tracer.
    woke=$(awk '$2 == "thread" { print $1 }' theirs)
    case $1 in
    nanosleep | child) named=1 ;;
    *) named=$((${woke:-0} * 100 >= truth * 95)) ;;
    esac
    [ "$close$named" = 11 ]
}

# All of them with FLAME_TEST_FULL=1: each takes seconds.
kinds='cond nanosleep'
[ "${FLAME_TEST_FULL-}" != 1 ] || kinds='cond mutex pipe unix epoll eventfd sigwait semop nanosleep child'
for kind in $kinds; do
    again 10 measure "$kind"
    is_int "$status" 0 "sleeps $kind: perf and flame off record with status 0"
    ok "sleeps $kind: flame off and the scheduler agree on the time, $ours and $truth us" [ "$close" = 1 ]
    oview offwake | grep ';sleeper;' >woken
    case $kind in
    nanosleep) want='\[timer\]' ;;
    child) want='child_ends_\[w\]' ;;
    *) want='waker_\[w\]' ;;
    esac
    ok "sleeps $kind: perf names the right waker, or none" [ "$named" = 1 ]
    # As for the scheduler, 95 % at least: a call whose event has come may still wait a
    # moment for a lock inside the kernel, with an unknown holder. No other waker may occur.
    share=$(want="--;.*$want" awk '{ all += $NF } $0 ~ ENVIRON["want"] { right += $NF; next }
        !/--;\[unknown\]_\[w\]/ { other++ }
        END { print all && right >= all * 0.95 && !other }' woken)
    ok "sleeps $kind: flame off names perf's waker" [ "$share" = 1 ] || cat woken >&2
done
done_testing
