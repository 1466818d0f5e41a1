#!/usr/bin/env bash
# A threaded server with jemalloc as its allocator, under load on loopback:
# every stack equals libunwind's, no request is lost, and it ends as unrecorded.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

command -v redis-server >/dev/null || skip_all redis "redis-server is not installed"
port=$((20000 + $$ % 20000))
LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/t.flame:referee=1 \
    redis-server --port $port --bind 127.0.0.1 --save '' --dir "$SCRATCH" >out 2>err </dev/null &
server=$!
answers_or_ended() {
    redis-cli -p "$port" ping 2>/dev/null | grep -q PONG || ! kill -0 "$server" 2>/dev/null
}
until_true answers_or_ended
ok 'redis-server under the library answers' kill -0 $server
timeout 60 redis-benchmark -p $port -n 1500 -c 8 -d 100 -r 1000 -t set,get,lpush,hset -q >bench.out 2>&1
is_int $? 0 'redis-server under the library serves the benchmark'
is_int "$(redis-cli -p $port llen mylist)" 1500 'redis-server under the library loses no request'
redis-cli -p $port shutdown nosave >/dev/null 2>&1
wait $server
is_int $? 0 'redis-server under the library ends with status 0'
is_str "$(cat err)" "" "redis-server: each stack equals libunwind's"
ok 'redis-server: the peak has the stack of a command' \
    test "$(fview peak | grep -c ';pushGenericCommand;')" -ge 1
is_int "$(fview live | awk '$NF < 0 { n++ } END { print n + 0 }')" 0 \
    'redis-server: no stack has negative live bytes'
done_testing
