#!/usr/bin/env bash
# Attaching to redis-server under load and leaving it again, ROUNDS times (200): every
# reply comes, in order, and the server's log has no word of an error. `make harmless`.
. "${0%/*}/../cli/lib.sh"
client=$ROOT/tests/programs/redis_client.py

command -v redis-server >/dev/null || skip_all redis 'no redis-server'
rounds=${ROUNDS:-200}
port=$((20000 + $$ % 20000))
redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --daemonize no \
    --dir "$SCRATCH" >server.log 2>&1 &
server=$!
for _ in $(seq 100); do
    redis-cli -p "$port" ping 2>/dev/null | grep -q PONG && break
    sleep 0.1
done
/usr/bin/python3 "$client" "$port" "$SCRATCH/stop" >client.out 2>client.err &
asking=$!

good=0 sleeps=0
for _ in $(seq "$rounds"); do
    rm -f t.flame
    timeout 20 "$FLAME" off -q -d 0.05 -o t.flame -p "$server" </dev/null 2>>attach.err && good=$((good + 1))
    [ -s t.flame ] && sleeps=$((sleeps + 1))
    kill -0 "$asking" 2>/dev/null || break
done
is_int "$good" "$rounds" "attached and left $rounds times"
is_int "$sleeps" "$rounds" 'each with a trace'
[ -s attach.err ] && diag "$(sort attach.err | uniq -c | head -5)"
touch stop
wait "$asking"
is_int $? 0 'no reply lost, none out of order'
[ -s client.err ] && diag "$(head -3 client.err)"
diag "$(cat client.out) replies meanwhile"
ok 'the server is still there' redis-cli -p "$port" ping
file_lacks server.log 'EINTR|[Ii]nterrupted|rror' 'and has nothing to complain of'
is_int "$(awk '/^TracerPid/ { print $2 }' "/proc/$server/status")" 0 'nobody traces it any more'
redis-cli -p "$port" shutdown nosave 2>/dev/null
wait "$server"
is_int $? 0 'it ends when asked'
done_testing
