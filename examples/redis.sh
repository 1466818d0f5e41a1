#!/usr/bin/env bash
# redis.sh [OUT]: shows the waits of redis-server while redis-benchmark makes it sync a file at
# every write. A server of its own on a unix socket in a temporary directory, removed at the end.
# Attaches `flame off` to it for a few seconds and leaves the off-CPU graph in OUT (redis-off.svg).
# Needs Debian's packages redis-server and redis-tools.
set -eu

flame=${FLAME:-${0%/*}/../build/flame}
flame=$(realpath "$flame")
out=$(realpath -m "${1:-redis-off.svg}")
seconds=${SECONDS_TRACED:-5}
for tool in redis-server redis-benchmark redis-cli; do
    command -v "$tool" >/dev/null || {
        echo "redis.sh: no $tool: apt-get install redis-server redis-tools" >&2
        exit 2
    }
done
dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-redis.XXXXXX")
cleanup() {
    redis-cli -s "$dir/sock" shutdown nosave >/dev/null 2>&1 || true
    rm -rf "$dir"
}
trap cleanup EXIT

redis-server --port 0 --unixsocket "$dir/sock" --dir "$dir" --save '' --appendonly yes \
    --appendfsync always --io-threads 2 >"$dir/log" &
server=$!
until redis-cli -s "$dir/sock" ping >/dev/null 2>&1; do
    kill -0 "$server" || exit 1
    sleep 0.1
done
timeout "$((seconds + 2))" redis-benchmark -s "$dir/sock" -q -c 20 -t set -n 100000000 \
    >/dev/null 2>&1 &
sleep 0.5
"$flame" off --idle -d "$seconds" -o "$out" -p "$server"
wait $! || true
