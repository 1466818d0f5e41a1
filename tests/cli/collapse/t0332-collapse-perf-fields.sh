#!/bin/bash
# perf script prints what it is asked for (-F), and what a tracepoint says behind the event. Samples of
# one event are counted, by their own command, whatever else stands in their first lines.
. "${0%/*}/../lib.sh"

collapse() {
    "$FLAME" collapse --from perf "$@" 2>err
}

frames='	55d000001000 spin+0x10 (/usr/bin/app)
	55d000002000 main+0x20 (/usr/bin/app)
'
cat >several.txt <<EOF
app   101/101   [000]    10.000100:     250000 cpu-clock: 
$frames
app   101/101   [000]    10.000200:          1 sched:sched_switch: prev_comm=app: prev_pid=101 ==> next_comm=swapper/0: next_pid=0
	55d000003000 wait_for_work+0x8 (/usr/bin/app)

app   101/101   [001]    10.000300:     900000 sched:sched_stat_runtime: comm=app pid=101 runtime=900000 [ns]
$frames
EOF
is_str "$(collapse several.txt)" 'app;main;spin 250000' 'perf: a tracepoint is another event'
like "$(cat err)" 'cpu-clock \(1\) is counted, not sched:sched_switch \(1\), sched:sched_stat_runtime \(1\)' \
    'perf: all other events are named'
is_str "$(collapse --event sched:sched_switch several.txt)" 'app;wait_for_work 1' \
    'perf: --event counts a tracepoint'
is_str "$(cat err)" '' 'perf: --event does not report other events'
run_expect_status 2 'perf: --event without such samples ends with status 2' \
    "$FLAME" collapse --event nope several.txt
like "$(cat err)" "holds no samples of 'nope', but of cpu-clock \(1\), sched:sched_switch \(1\)" \
    'perf: --event without such samples lists the events'

cat >kinds.txt <<EOF
app 1/1 [000] 1.000100: 10 cpu_core/cycles/P: 
$frames
app 1/1 [004] 1.000200: 5 cpu_atom/cycles/P: 
$frames
EOF
is_str "$(collapse kinds.txt)" 'app;main;spin 10' 'perf: the default counts cores of one kind'
is_str "$(collapse --event cycles kinds.txt)" 'app;main;spin 15' \
    'perf: --event cycles counts cores of both kinds'

# Fields that are not printed.
cat >no-comm.txt <<EOF
   101/101   [000]    10.000100:     250000 cpu-clock: 
$frames
 12101/12101 [000]    10.000200:     250000 cpu-clock: 
$frames
EOF
is_str "$(collapse no-comm.txt)" '[unknown];main;spin 500000' 'no command: one root'
is_str "$(collapse --tid no-comm.txt)" '[unknown]-101/101;main;spin 250000
[unknown]-12101/12101;main;spin 250000' 'perf without commands: --tid separates the threads'
cat >no-tid.txt <<EOF
my app    10.000100:     250000 cpu-clock: 
$frames
my app    10.000200:     250000 cpu-clock: 
$frames
my app [001] U    10.000300:     250000 cpu-clock: 
$frames
EOF
is_str "$(collapse no-tid.txt)" 'my_app;main;spin 750000' 'no thread: the command is the root, not the time'

# Without call stacks.
cat >flat.txt <<'EOF'
app   101   10.000100:     250000 cycles:      55d000001000 spin+0x10 (/usr/bin/app)
app   101   10.000200:     250000 cycles:      55d000003000 wait_for_work+0x8 (/usr/bin/app)
EOF
is_str "$("$FLAME" collapse flat.txt 2>err)" 'app;spin 250000
app;wait_for_work 250000' 'perf without call stacks is recognised'
like "$(cat err)" 'recorded without call stacks \(perf record -g\)' 'perf without call stacks is reported'
printf 'app 1 [000] 1.0: 1 sched:sched_switch: prev_comm=app\napp 1 [000] 2.0: 1 sched:sched_switch: x\n' >none.txt
is_str "$(collapse none.txt)" 'app 2' 'perf without frames counts the command'

# Lines of perf script besides samples.
cat >besides.txt <<EOF
Processed 12 events and lost 3 chunks!

perf 12 PERF_RECORD_COMM: perf:12/12
app 7 10.000100: 250000 cycles: 
$frames
EOF
is_str "$(collapse besides.txt)" 'app;main;spin 250000' 'perf: other lines are no samples'
is_str "$(printf 'app 7 10.000100: 5 cycles: \n55d000001000 spin 12 (/usr/bin/app)\n' | collapse)" 'app;spin_12 5' \
    'perf: a frame without indentation is read'

# Quotes belong to names.
cat >quotes.txt <<'EOF'
app 7 10.000100: 1 cycles: 
	55d000001000 operator""_km+0x10 (/usr/bin/app)
	55d000002000 main::'lambda'(int)::operator()(int) const+0x20 (/usr/bin/app)

EOF
is_str "$(collapse quotes.txt)" "app;main::'lambda'(int)::operator()(int) const;operator\"\"_km 1" \
    'perf: quotes in names stay'
is_str "$(collapse --compat perl quotes.txt)" 'app;main::lambda;operator_km 1' \
    'perf: --compat perl removes quotes from names'

done_testing
