"""Programs in normal use, for leak_suites.py: each a shell script that works in its own directory,
ends by itself, and writes the same each time that it runs. Networks are the loopback, ports are
chosen by the system."""

# A server is waited for by asking it; it is ended as its manual says.
REDIS = """
redis-server --port 0 --unixsocket "$PWD/s" --dir "$PWD" --appendonly yes --logfile log &
for i in 1 2 3 4 5 6 7 8 9 10; do redis-cli -s s ping >/dev/null 2>&1 && break; sleep 0.3; done
seq 3000 | sed 's/.*/set key:& value-of-&/' | redis-cli -s s | sort | uniq -c
redis-cli -s s <<'END'
lpush list a b c d
lrange list 0 -1
hset hash f 1 g 2
zadd z 1 one 2 two
zrange z 0 -1 withscores
xadd x 1-1 a b
pfadd p a b c
geoadd g 13.36 38.11 here
eval "return redis.call('get', KEYS[1])" 1 key:17
function load "#!lua name=l\\nredis.register_function('f', function() return 1 end)"
fcall f 0
multi
incr n
exec
config set maxmemory 100mb
setex gone 1 x
object encoding list
memory usage hash
client list id 0
dbsize
save
bgrewriteaof
flushall
END
redis-benchmark -s s -n 3000 -c 5 -q -t set,get >/dev/null
redis-cli -s s shutdown
wait
"""
POSTGRES = """
PATH=/usr/lib/postgresql/15/bin:$PATH
initdb -D data -A trust -U me >/dev/null && postgres -D data -k "$PWD" -c listen_addresses= -c logging_collector=off 2>log &
for i in $(seq 60); do psql -h "$PWD" -U me -d postgres -c 'select 1' >/dev/null 2>&1 && break; sleep 0.3; done
psql -h "$PWD" -U me -d postgres -At <<'END'
create table t(a int primary key, b text, c jsonb);
insert into t select n, md5(n::text), json_build_object('n', n) from generate_series(1, 3000) n;
create index on t(b); analyze t;
select count(*), max(b) from t where b like 'a%';
select sum((c->>'n')::int) over (order by a) from t limit 3;
begin; delete from t where a % 2 = 0; rollback;
do $$ begin for i in 1..10 loop update t set b = b || i where a = i; end loop; end $$;
create function f(x int) returns int language plpgsql as 'begin return x + 1; end';
select f(a) from t order by a limit 2;
select wrong from t;
copy (select a, b from t order by a limit 3) to stdout;
with recursive r(n) as (select 1 union all select n + 1 from r where n < 100) select sum(n) from r;
vacuum t;
\\d t
END
pg_dump -h "$PWD" -U me postgres | grep -c md5
pgbench -h "$PWD" -U me -i -q postgres >/dev/null 2>&1
pgbench -h "$PWD" -U me -t 20 -c 2 postgres 2>&1 | grep processed
pg_ctl -D data -m fast stop
wait
"""
GCC = """
cat >a.c <<'END'
#include <stdio.h>
#include <stdlib.h>
struct s { int n; struct s *next; };
static int sum(struct s *s) { int n = 0; for (; s; s = s->next) n += s->n; return n; }
int main(void) { struct s a = {1, 0}, b = {2, &a}; printf("%d\\n", sum(&b)); return 0; }
END
cat >b.cc <<'END'
#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <vector>
template <class T> T twice(T t) { return t + t; }
int main() { std::map<std::string, int> m{{"a", 1}}; std::vector<int> v{3, 1, 2};
 std::sort(v.begin(), v.end()); for (auto &x : v) std::cout << twice(x) + m["a"] << '\\n'; }
END
echo 'int main(void) { return wrong; }' >c.c
gcc -O2 -g -Wall -Wextra -o a a.c && ./a
g++ -O2 -std=c++17 -o b b.cc && ./b
gcc -flto -O2 -o l a.c && ./l
gcc -O1 -fanalyzer -fsyntax-only a.c && gcc -E a.c | grep -c sum
gcc -c c.c 2>&1 | grep -c undeclared
ar rc x.a b.cc a.c; nm a | grep -c ' main$'; objdump -d a | grep -c 'main>:$'; strip a; size a | wc -l
"""
TLS = """
openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=localhost \
    -addext subjectAltName=DNS:localhost 2>/dev/null
cat >server.py <<'END'
import http.server, ssl
class H(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200); self.send_header("Content-Length", str(len(body))); self.end_headers()
        self.wfile.write(body)
        self.server.stop = body == b"stop"
s = http.server.HTTPServer(("127.0.0.1", 0), H)
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER); c.load_cert_chain("cert", "key")
s.socket = c.wrap_socket(s.socket, server_side=True)
s.stop = False
open("port.new", "w").write(str(s.server_port)); import os; os.rename("port.new", "port")
while not s.stop: s.handle_request()
END
seq 20000 >big
/usr/bin/python3.11 server.py 2>/dev/null &
for i in $(seq 100); do [ -e port ] && break; sleep 0.2; done
url=https://localhost:$(cat port)
curl -s --cacert cert "$url/big" "$url/big" | cksum
curl -s --cacert cert --compressed -D - -o /dev/null "$url/none" | head -1
curl -s "$url/big"; echo "$?"
curl -s --cacert cert --tls-max 1.2 -d a=b "$url/"; curl -s --cacert cert --http1.1 -r 5-9 "$url/big" | head -c 3
curl -s --cacert cert -d stop "$url/"
wait
"""
NODE = """
cat >a.js <<'END'
const {Worker, isMainThread, parentPort} = require('worker_threads');
if (!isMainThread) { parentPort.postMessage([...Array(1000).keys()].reduce((a, b) => a + b)); return; }
const http = require('http'), zlib = require('zlib'), crypto = require('crypto'), fs = require('fs');
const {execFileSync} = require('child_process');
(async () => {
  const n = await new Promise(r => new Worker(__filename).on('message', r));
  const server = http.createServer((q, s) => q.pipe(zlib.createGzip()).pipe(s)).listen(0, '127.0.0.1');
  await new Promise(r => server.on('listening', r));
  const body = await new Promise(r => { const q = http.request({port: server.address().port, host: '127.0.0.1',
    method: 'POST'}, s => { const all = []; s.on('data', d => all.push(d)).on('end', () => r(Buffer.concat(all))); });
    q.end('x'.repeat(100000)); });
  server.close();
  console.log(n, zlib.gunzipSync(body).length, crypto.createHash('sha256').update('a').digest('hex').slice(0, 9));
  console.log(crypto.generateKeyPairSync('ec', {namedCurve: 'P-256'}).publicKey.asymmetricKeyType);
  console.log(execFileSync('echo', ['child']).toString().trim(), fs.readdirSync('.').length);
  console.log(JSON.stringify(new Intl.NumberFormat('en').format(1234567)), 'aXb'.match(/(?<x>X)/u).groups.x);
  await WebAssembly.compile(Buffer.from('0061736d01000000', 'hex'));
})();
END
node a.js
node -p '[1,2,3].map(x => x * x).join()'
node -e 'process.exit(3)'; echo $?
node -e 'throw new Error("thrown")' 2>&1 | grep -c thrown
"""
PHP = """
cat >a.php <<'END'
<?php
function gen() { for ($i = 0; $i < 1000; $i++) yield $i => str_repeat("x", $i); }
$n = 0; foreach (gen() as $k => $v) $n += strlen($v);
echo $n, " ", json_encode(["a" => [1, 2, 3.5], "b" => null]), "\\n";
preg_match_all('/(?<w>\\w+)/', "some words here", $m); echo count($m["w"]), "\\n";
class A implements ArrayAccess, IteratorAggregate { private $d = [];
 function offsetExists($o): bool { return isset($this->d[$o]); } function offsetGet($o): mixed { return $this->d[$o]; }
 function offsetSet($o, $v): void { $this->d[$o] = $v; } function offsetUnset($o): void { unset($this->d[$o]); }
 function getIterator(): Iterator { return new ArrayIterator($this->d); } }
$a = new A; $a["x"] = $a; foreach ($a as $k => $v) echo $k, "\\n"; unset($a); echo gc_collect_cycles(), "\\n";
try { intdiv(1, 0); } catch (DivisionByZeroError $e) { echo get_class($e), "\\n"; }
echo hash("sha256", "a"), " ", strlen(serialize(range(1, 100))), " ", date("Y", 0), "\\n";
$f = new Fiber(function () { echo Fiber::suspend(1), "\\n"; }); $f->start(); $f->resume("resumed");
echo implode(",", sscanf("12 apples", "%d %s")), "\\n";
END
php a.php
php -r 'echo strrev("abc"), PHP_EOL; exit(4);'; echo $?
php -l a.php
"""
RUBY = """
cat >a.rb <<'END'
require 'json'; require 'zlib'; require 'socket'; require 'digest'; require 'set'; require 'stringio'
puts JSON.generate({"a" => [1, 2, 3.5, nil]}), JSON.parse('{"b":[1]}')["b"].sum
puts Zlib.inflate(Zlib.deflate("x" * 10000)).size, Digest::SHA256.hexdigest("a")[0, 9]
s = TCPServer.new("127.0.0.1", 0); t = Thread.new { c = s.accept; c.puts c.gets.reverse; c.close }
c = TCPSocket.new("127.0.0.1", s.addr[1]); c.puts "abc"; p c.read; t.join
p (1..1000).each_slice(7).map(&:sum).max, Set.new([1, 1, 2]).size, "aXb"[/X/], Fiber.new { 5 }.resume
e = Enumerator.new { |y| 10.times { |i| y << i } }; p e.next, e.lazy.map { |x| x * 2 }.first(3)
begin; raise ArgumentError, "x"; rescue => x; p x.class; end
p `echo child`, $?.exitstatus, ObjectSpace.respond_to?(:each_object); GC.start
END
ruby a.rb
"""
JAVA = """
cat >A.java <<'END'
import java.util.*; import java.util.concurrent.*; import java.util.stream.*; import java.net.*; import java.nio.file.*;
public class A {
  record P(int x, String s) {}
  public static void main(String[] a) throws Exception {
    var pool = Executors.newFixedThreadPool(3);
    var sums = new ArrayList<Future<Integer>>();
    for (int i = 0; i < 5; i++) { int n = i; sums.add(pool.submit(() -> IntStream.range(0, 1000 * n).sum())); }
    int all = 0; for (var f : sums) all += f.get(); pool.shutdown();
    System.out.println(all + " " + new P(1, "x") + " " + Stream.of("b", "a").sorted().collect(Collectors.joining()));
    try (var s = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      var t = new Thread(() -> { try (var c = s.accept()) { c.getOutputStream().write(7); } catch (Exception e) { } });
      t.start(); try (var c = new Socket(s.getInetAddress(), s.getLocalPort())) { System.out.println(c.getInputStream().read()); } t.join();
    }
    var z = new java.util.zip.Deflater(); z.setInput(new byte[10000]); z.finish(); z.deflate(new byte[10000]); z.end();
    System.out.println(java.security.MessageDigest.getInstance("SHA-256").digest(new byte[1]).length);
    byte[][] keep = new byte[20][]; for (int i = 0; i < 200; i++) keep[i % 20] = new byte[1 << 18]; System.gc();
    System.exit(3);
  }
}
END
javac A.java && java -cp . A; echo $?
"""
GTK = """
Xvfb -displayfd 5 -screen 0 800x600x24 -nolisten tcp 5>display 2>/dev/null &
x=$!
for i in $(seq 60); do [ -s display ] && break; sleep 0.3; done
export DISPLAY=:$(cat display) GSETTINGS_BACKEND=memory NO_AT_BRIDGE=1 GIO_MODULE_DIR=/nowhere
for demo in application_demo assistant builder clipboard colorsel combobox dialog drawingarea flowbox popover; do
    gtk3-demo --run=$demo --autoquit 2>/dev/null; echo "$demo $?"
done
kill $x; wait $x
"""
FILES = """
seq 20000 | sort -R --random-source=/bin/sh >rows; sort -n rows | cksum; sort -k1,1r -u -S 100k rows | tail -1
sort --parallel=2 rows rows | uniq -c | awk '{n += $1} END {print n}'; sort -m rows rows | wc -l; sort -c rows 2>/dev/null; echo $?
mkdir d d/e; for i in $(seq 50); do cp rows d/e/$i; done; ln d/e/1 d/h; ln -s h d/l
for how in -cf -czf -cJf; do tar $how x.tar d; tar -tf x.tar | wc -l; mkdir o; tar -C o -xf x.tar; diff -r d o/d; rm -r o; done
tar -cf - --exclude='d/e/1*' d | tar -tv | wc -l; tar -rf x.tar none 2>/dev/null; echo $?
bash -c 'declare -A a; for i in {1..500}; do a[$i]=$((i * i)); done; echo ${#a[@]} ${a[30]}'
bash -c 'f() { local x=$(echo $1); [ $1 -gt 0 ] && f $(($1 - 1)); echo $x; }; f 30 | tail -1'
bash -c 'mapfile -t l <rows; printf "%s\\n" "${l[@]:0:3}" | wc -l; coproc cat; echo x >&${COPROC[1]}; read -u ${COPROC[0]} y; echo $y'
bash -c 'trap "echo end" EXIT; while read -r x; do case $x in *99) echo $x;; esac; done < <(head -300 rows) | wc -l'
find d -name '*1*' -exec wc -c {} + | tail -1; grep -rc 7 d | wc -l; sed -n '$p;1!G;h' rows | wc -l; gzip -9c rows | zcat | cksum
ls -laR d | wc -l; du -s d >/dev/null; df . >/dev/null; cp -a d c; mv c b; rm -rf b; stat -c %s rows; xargs -n 100 echo <rows | wc -l
"""
DEVELOP = """
git init -q -b main r; cd r; git config user.name me; git config user.email me@localhost
seq 2000 >a; git add a; git commit -qm one; git switch -qc side; sed -i s/77/x/ a; git commit -qam two; git switch -q main
echo b >b; git add b; git commit -qm three; git merge -q -m four side; git log --oneline --graph --format=%s --stat | cat
git rebase -q HEAD~1; git stash -q; git blame -s a | cut -c10- | tail -1; git gc -q; git fsck 2>/dev/null; git diff HEAD~1 | wc -l
git clone -q . ../copy; git -C ../copy fetch -q; git tag -m t v1; git describe; git grep -c x; git archive HEAD | tar t | wc -l
git bundle create -q ../bundle main; git rev-list --all --objects | wc -l; git cherry-pick nothing 2>/dev/null; echo $?
echo 'print("x")' | perl -c 2>&1; perl -MData::Dumper -MPOSIX -e 'print Dumper({a => [1, floor(2.5)]})'
gawk 'BEGIN {for (i = 0; i < 999; i++) a[i] = i * i; n = asort(a); print n, a[n], length(a)}'
xmllint --version >/dev/null 2>&1; openssl dgst -sha256 a; openssl ecparam -genkey -name prime256v1 -noout | wc -l
gdb -q -batch -ex 'info line main' -ex 'print 1+1' /bin/true 2>/dev/null | tail -1; make -s -f /dev/null 2>/dev/null; echo $?
printf 'all: x y\\nx y:\\n\\t@echo $@ $(shell echo s)\\n' >M; make -s -j2 -f M | sort
"""

# Needed programs, and the script. A script without any may run as the user who runs all.
PROGRAMS = {
    "redis": (["redis-server"], REDIS), "postgres": (["initdb"], POSTGRES), "gcc": (["gcc", "g++"], GCC),
    "curl-tls": (["curl", "openssl"], TLS), "node": (["node"], NODE), "php": (["php"], PHP), "ruby": (["ruby"], RUBY),
    "java": (["javac"], JAVA), "gtk": (["gtk3-demo", "Xvfb"], GTK), "files": (["bash"], FILES),
    "develop": (["git", "gawk"], DEVELOP),
}
NOT_ROOT = {"postgres"}  # refuses to run as root
