#!/usr/bin/env bash
# Time off the CPU from perf script's scheduler events.
. "${0%/*}/../lib.sh"

cat >switch.txt <<'EOF'
app 10/11 [001] 100.000000: sched:sched_switch: prev_comm=app prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
	ffffffff81 schedule+0x1 ([kernel.kallsyms])
	1 read_it+0x2 (/opt/app)
	2 main (/opt/app)

feeder 20/20 [000] 100.400000: sched:sched_wakeup: comm=app pid=11 prio=120 target_cpu=001
	3 try_to_wake_up ([kernel.kallsyms])
	4 feed (/opt/feeder)

swapper 0/0 [001] 100.500000: sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=11 next_prio=120
	5 do_idle ([kernel.kallsyms])

app 10/11 [001] 101.000000: sched:sched_switch: prev_comm=app prev_pid=11 prev_prio=120 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
	ffffffff81 schedule+0x1 ([kernel.kallsyms])
	1 read_it+0x2 (/opt/app)
	2 main (/opt/app)

swapper 0/0 [001] 101.000250: 1 sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=app next_pid=11 next_prio=120
EOF
run "$FLAME" collapse --from perf-sched switch.txt
is_str "$(cat out)" 'app;main;read_it;schedule 500250' \
    'perf-sched: off-CPU time from switch to switch, in microseconds'
is_str "$("$FLAME" collapse --from perf-sched --tid switch.txt)" 'app-11;main;read_it;schedule 500250' \
    'perf-sched --tid: off-CPU time by thread'
is_str "$("$FLAME" collapse --from perf-sched --wake switch.txt)" \
    'app;main;read_it;schedule 250
app;main;read_it;schedule;try_to_wake_up;feed;feeder 500000' 'perf-sched --wake: off-CPU time with the waker'
is_str "$("$FLAME" collapse --from perf-sched --kernel switch.txt)" \
    'app;main;read_it;schedule_[k] 500250' 'perf-sched --kernel: kernel frames are annotated'

# A sleeps; B sleeps, is woken by C, wakes A.
cat >chain.txt <<'EOF'
A 1 [0] 1.000000: sched:sched_switch: prev_comm=A prev_pid=1 prev_state=S ==> next_comm=B next_pid=2
	1 sleep_a (/a)

B 2 [0] 1.100000: sched:sched_switch: prev_comm=B prev_pid=2 prev_state=S ==> next_comm=C next_pid=3
	2 sleep_b (/b)

C 3 [0] 1.300000: sched:sched_stat_sleep: comm=B pid=2 delay=200000000 [ns]
	3 wake_c (/c)

B 2 [0] 1.400000: sched:sched_stat_blocked: comm=A pid=1 delay=400000999 [ns]
	4 leaf_b (/b)
	5 wake_b (/b)

EOF
is_str "$("$FLAME" collapse --from perf-sched chain.txt)" 'A;sleep_a 400000
B;sleep_b 200000' 'perf-sched: off-CPU time from sched_stat events'
is_str "$("$FLAME" collapse --from perf-sched --chain chain.txt)" \
    'A;sleep_a;leaf_b;wake_b;B;-;sleep_b;wake_c;C 400000
B;sleep_b;wake_c;C 200000' 'perf-sched --chain: chains of wakers'
is_str "$("$FLAME" collapse chain.txt 2>err)" 'A;sleep_a 1
B;sleep_b 1' 'perf counts scheduler events of the first kind by default'
like "$(cat err)" 'not sched:sched_stat_sleep \(1\), sched:sched_stat_blocked \(1\)' \
    'perf reports the scheduler events that it does not count'
is_str "$("$FLAME" collapse --event sched:sched_stat_blocked chain.txt)" 'B;wake_b;leaf_b 1' \
    'perf --event counts scheduler events of another kind'
run_expect_status 2 'perf-sched without scheduler events ends with status 2' \
    "$FLAME" collapse --from perf-sched "$ROOT/tests/corpus/collapse/perf"

done_testing
