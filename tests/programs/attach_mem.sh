#!/usr/bin/env bash
# `flame mem -p` to programs under load and away again, ROUNDS times (300) each: every one ends as it
# would, with no wrong reply. WHICH names some of: busy asleep loader redis python node java. `make
# harmless`.
. "${0%/*}/../cli/lib.sh"
rounds=${ROUNDS:-300}
which=${WHICH:-busy asleep loader redis python node java}
client=$ROOT/tests/programs/redis_client.py

# rounds_of NAME PID
rounds_of() {
    local name=$1 pid=$2 good=0 traces=0
    for _ in $(seq "$rounds"); do
        rm -f t.flame
        timeout 60 "$FLAME" mem -d 0.02 -o t.flame -p "$pid" </dev/null 2>>"$name.err" && good=$((good + 1))
        [ -s t.flame ] && traces=$((traces + 1))
        kill -0 "$pid" 2>/dev/null || break
    done
    is_str "$good $traces" "$rounds $rounds" "$name: attached and left $rounds times"
    grep -v 'recording\|allocated\|not known\|import slots\|the trace is' "$name.err" | sort | uniq -c |
        head -5 >odd
    [ -s odd ] && diag "$(cat odd)"
    # The median of each round's stops, and the longest stop of all.
    diag "$name: stops, $(grep -o '[0-9.]* ms in the median' "$name.err" | sort -n |
        awk '{ t[NR] = $1 } END { printf "median %s ms", t[int((NR + 1) / 2)] }'), $(
        grep -o '[0-9.]* ms at most' "$name.err" | sort -n | tail -1)"
}

# fed NAME COMMAND...: one that runs until its standard input ends, and then says "... errors 0".
fed() {
    local name=$1
    shift
    rm -f stdin
    mkfifo stdin
    "$@" <stdin >"$name.out" 2>&1 &
    local pid=$!
    exec 7>stdin
    sleep "${WARM:-1}"
    rounds_of "$name" "$pid"
    exec 7>&-
    status=0
    wait "$pid" || status=$?
    is_str "$status $(cat "$name.out")" "0 $name errors 0" "$name: it ends as it would"
}

compile_victim restless -pthread
for i in 1 2 3; do
    compile_victim plugin -shared -fPIC -DNAME=name$i -DSIZE=100
    mv plugin lib$i.so
done

cat >busy.py <<'EOP'
import json, sys, threading, zlib
over = threading.Event()
errors = 0
def work(k):
    global errors
    while not over.wait(0.001 if k == 0 else 0):
        text = json.dumps({str(i): [i] * (i % 7) for i in range(200)})
        if len(json.loads(text)) != 200 or zlib.decompress(zlib.compress(text.encode())).decode() != text:
            errors += 1
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
for t in threads: t.start()
sys.stdin.read()
over.set()
for t in threads: t.join()
print("python errors", errors)
EOP
cat >busy.js <<'EOJ'
const zlib = require('zlib');
let over = false, errors = 0, n = 4;
process.stdin.on('data', () => {}).on('end', () => { over = true; });
function step() {
    if (over) { if (--n === 0) console.log('node errors', errors); return; }
    const text = JSON.stringify([...Array(500).keys()]), since = Date.now();
    zlib.deflate(text, (e, b) => zlib.inflate(b, (f, c) => {
        if (e || f || c.toString() !== text) errors++;
        setTimeout(() => { if (Date.now() - since < 1) errors++; step(); }, 2);
    }));
}
for (let i = 0; i < 4; i++) step();
EOJ
cat >Busy.java <<'EOJ'
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.*;
public class Busy {
    static volatile boolean over;
    static final AtomicLong errors = new AtomicLong();
    static void work(int q) {
        byte[] b = new byte[4096], o = new byte[8192], r = new byte[4096];
        for (int i = 0; i < b.length; i++) b[i] = (byte)(i * q);
        while (!over) {
            Deflater d = new Deflater();
            d.setInput(b);
            d.finish();
            int n = d.deflate(o);
            d.end();
            Inflater f = new Inflater();
            f.setInput(o, 0, n);
            try {
                if (f.inflate(r) != b.length || !Arrays.equals(r, b)) errors.incrementAndGet();
            } catch (DataFormatException e) {
                errors.incrementAndGet();
            }
            f.end();
        }
    }
    public static void main(String[] args) throws Exception {
        Thread[] t = new Thread[4];
        for (int k = 0; k < 4; k++) {
            final int q = k;
            t[k] = new Thread(() -> work(q));
            t[k].start();
        }
        while (System.in.read() >= 0);
        over = true;
        for (Thread x : t) x.join();
        System.out.println("java errors " + errors.get());
    }
}
EOJ

serve_redis() {
    local port=$((20000 + $$ % 20000)) server asking
    redis-server --port "$port" --bind 127.0.0.1 --save '' --appendonly no --daemonize no \
        --dir "$SCRATCH" >server.log 2>&1 &
    server=$!
    for _ in $(seq 100); do
        redis-cli -p "$port" ping 2>/dev/null | grep -q PONG && break
        sleep 0.1
    done
    /usr/bin/python3 "$client" "$port" "$SCRATCH/stop" >client.out 2>client.err &
    asking=$!
    rounds_of redis "$server"
    touch stop
    status=0
    wait "$asking" || status=$?
    is_int "$status" 0 "every reply came, in order: $(tail -1 client.out)"
    [ -s client.err ] && diag "$(tail -3 client.err)"
    redis-cli -p "$port" shutdown nosave >/dev/null 2>&1
    status=0
    wait "$server" || status=$?
    is_int "$status" 0 'redis ends as it would'
    file_lacks server.log 'EINTR|[Ii]nterrupted|rror|crash' 'and has nothing to complain of'
}

for one in $which; do
    case $one in
    busy | asleep) fed "$one" ./restless "$one" ;;
    loader) fed loader ./restless loader ./lib1.so ./lib2.so ./lib3.so libm.so.6 ;;
    redis) if command -v redis-server >/dev/null; then serve_redis; else skip redis 'no redis-server'; fi ;;
    python) fed python /usr/bin/python3 busy.py ;;
    node) if command -v node >/dev/null; then fed node node busy.js; else skip node 'no node'; fi ;;
    java)
        if command -v javac >/dev/null && javac Busy.java; then
            WARM=5 fed java java -cp . Busy
        else
            skip java 'no javac'
        fi
        ;;
    esac
done
done_testing
