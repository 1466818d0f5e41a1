#!/bin/bash
# The parts of a thread's time sum to all of it: sleeps in calls, run-queue waits, run time,
# stops, and off-CPU time outside of calls are together as long as it was traced.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp
compile_victim convoy -pthread
compile_victim unfilled -pthread
compile_victim sleeps -O1 -pthread -lrt

# Each thread of t.flame: its record, time traced, all rows together, page faults, run queue, its
# stops by the tracer; us. The first moments of a new thread, before its creator reports it, count for no thread.
account_for() {
    "$FLAME" dump t.flame | awk '
        { for (i = 2; i <= NF; i++) { eq = index($i, "="); v[substr($i, 1, eq - 1)] = substr($i, eq + 1) } }
        $1 == "thread" { wall[v["id"]] = v["wall_ns"]; name[v["id"]] = v["comm"] }
        $1 == "row" {
            t = v["thread"]
            all[t] += v["blocked_ns"] + v["runq_ns"] + v["cpu_ns"]
            runq[t] += v["runq_ns"]
            if (v["kind"] == "tracer") stops[t] += v["blocked_ns"]
            if (v["kind"] == "fault") pages[t] += v["blocked_ns"]
        }
        END {
            for (t in wall)
                printf "%s %d %d %d %d %d\n", name[t], wall[t] / 1000, all[t] / 1000,
                    pages[t] / 1000, runq[t] / 1000, stops[t] / 1000
        }'
}

# Checks every thread.
adds_up() {
    account_for >accounts
    awk '{ away = $3 > $2 ? $3 - $2 : $2 - $3
           if (away > 200 && away * 50 > $2) print }' accounts >wrong
    ok "$1: the trace has threads" test -s accounts
    is_str "$(cat wrong)" '' "$1: the times of each thread sum to its duration"
}

# The tracer's cost in the summary is the sum of its rows.
stops_agree() {
    is_str "$("$FLAME" dump t.flame | sed -n 's/.* cost_ns=\([0-9]*\).*/\1/p' | head -n 1)" \
        "$("$FLAME" dump t.flame | awk '$1 == "row" && / kind=tracer / {
            sub(/.* blocked_ns=/, ""); sum += $1 } END { printf "%.0f", sum }')" \
        "$1: the cost of tracing is the sum of its stops"
}

all_of_them() {
    local load=$1
    off ./convoy 30 </dev/null
    adds_up "$load, locks"
    off --min-block 5ms ./convoy 30 </dev/null
    adds_up "$load, locks, and short sleeps left out"
    off --min-block 10s sh -c 'sleep 0.2' </dev/null
    adds_up "$load, all sleeps left out"
    is_int "$(oview off | awk '/;\[outside calls\] / && $NF > 100000' | wc -l)" 0 \
        "$load: sleeps that --min-block leaves out are in calls"
    sleep 60 &
    sleeper=$!
    off --min-block 10s -d 0.3 -p $sleeper </dev/null
    adds_up "$load, one of them at the end"
    kill $sleeper
    off --hz 99 ./convoy 30 </dev/null
    adds_up "$load, locks and samples"
    off ./sleeps cond 5 20 </dev/null
    adds_up "$load, a condition"
    # shellcheck disable=SC2016 # not here
    off sh -c 'for i in 1 2 3 4 5; do sh -c "exec ls /proc/$$/fd"; sleep 0.01; done' </dev/null
    adds_up "$load, processes"
    stops_agree "$load, processes"
    off --no-filter sh -c 'sleep 0.05; ls' </dev/null
    adds_up "$load, all calls stopped"
    # Stopped and continued by a shell.
    # shellcheck disable=SC2016
    off sh -c 'sleep 0.3 & kill -STOP $!; sleep 0.1; kill -CONT $!; wait' </dev/null
    adds_up "$load, job control"
}

# Waits for late pages are in no call. By the thread's own clock; it also waited for a CPU in
# that time, after the page had come.
pages() {
    off ./unfilled late 20 20 </dev/null
    if [ "$status" = 77 ]; then
        skip userfaultfd 'the kernel does not permit userfaultfd'
        return
    fi
    adds_up "$1, pages that come late"
    waited=$(sed -n 's/^waited \([0-9]*\).*/\1/p' out)
    is_str "$(waited=$waited awk '
        $4 > best { best = $4; rest = $5 + $6 }
        END { waited = ENVIRON["waited"] + 0
              right = best <= waited * 1.02 + 1000 && best + rest >= waited * 0.98 - 1000
              print (right ? "right" : best " and " rest " of " waited) }' accounts)" right \
        "$1: waits for late pages are as long as by the thread"
    file_has <(oview off) '^unfilled;\[page fault\] [0-9]+$' "$1: waits for pages are in --view off"
    file_has <(oview hotcold) '^unfilled;.*\[page fault\].* [0-9]+$' "$1: waits for pages are in --view hotcold"
    rm -f said.flame
    timeout 60 "$FLAME" off -o said.flame ./unfilled late 20 20 </dev/null >out 2>err
    file_has err '^flame: blocked .*, ran .*, waited for pages [0-9.]+ m?s' \
        "$1: the summary has the waits for pages"
}

all_of_them idle
pages idle

hogs=()
for _ in $(seq $(($(nproc) * 2))); do
    timeout 120 sh -c 'while :; do :; done' &
    hogs+=($!)
done
all_of_them loaded
pages loaded
kill "${hogs[@]}"

if command -v redis-server >/dev/null; then
    port=$((20000 + $$ % 20000))
    redis-server --port $port --bind 127.0.0.1 --save '' --dir "$SCRATCH" >server.out 2>&1 </dev/null &
    server=$!
    answers() {
        redis-cli -p "$port" ping 2>/dev/null | grep -q PONG
    }
    until_true answers
    off -d 0.3 -p $server
    adds_up 'redis, idle'
    timeout 60 redis-benchmark -p $port -n 100000000 -c 4 -t set,get -q >bench.out 2>&1 &
    bench=$!
    off -d 0.5 -p $server
    adds_up 'redis, at work'
    stops_agree 'redis, at work'
    kill $bench
    redis-cli -p $port shutdown nosave >/dev/null 2>&1
    wait $server
else
    skip redis 'redis-server is not installed'
fi
done_testing
