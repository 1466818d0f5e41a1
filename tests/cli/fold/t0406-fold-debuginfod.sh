#!/bin/bash
# Debug files from a server, where DEBUGINFOD_URLS names one: names of stripped programs, and for
# traces to carry; and servers that have nothing, or are not there.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
# The C library's own functions have names here.
unset FLAME_DEBUG_DIRS

python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
"$python" -c 'import ctypes; ctypes.CDLL("libdebuginfod.so.1")' 2>/dev/null ||
    skip_all debuginfod 'no libdebuginfod'

cat >prog.c <<'END'
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
static NOINLINE void *give(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
static inline __attribute__((always_inline)) void *inner(size_t n) { return give(n); }
static NOINLINE void *outer(size_t n) { void *p = inner(n); __asm__ volatile("" ::: "memory"); return p; }
int main(void) { void *volatile keep = outer(50); (void)keep; return 0; }
END
"${CC:-gcc}" -O1 -g -Wl,--build-id=sha1 -o prog prog.c
id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
mkdir -p "served/buildid/$id" cache
objcopy --only-keep-debug prog "served/buildid/$id/debuginfo"
strip prog
record '' ./prog

# A server on the loopback, whose port it says itself.
cat >serve.py <<'END'
import functools, http.server, sys
class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        with open("asked", "a") as f:
            f.write(self.path + "\n")
server = http.server.HTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory="served"))
with open("port.new", "w") as f:
    f.write(str(server.server_port))
import os
os.rename("port.new", "port")
server.serve_forever()
END
"$python" serve.py >/dev/null 2>&1 &
server=$!
until_true test -s port
url=http://127.0.0.1:$(cat port)
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY DEBUGINFOD_URLS
export DEBUGINFOD_CACHE_PATH=$SCRATCH/cache DEBUGINFOD_TIMEOUT=10

fold() { # what names there are
    run "$FLAME" fold --no-header "$@" t.flame
    sed -n 's/^.*;\(\[\{0,1\}prog[^;]*\|main.*\) 50$/\1/p' out
}
like "$(fold)" '^\[prog\+0x' 'a stripped program has no names'
not_ok 'and nobody is asked' test -e asked
export DEBUGINFOD_URLS=$url
is_str "$(fold)" 'main;outer;inner_[i];give' 'with a server it has, and what was inlined'
is_str "$(cat err)" '' 'without a word'
ok 'the server was asked' grep -qx "/buildid/$id/debuginfo" asked
like "$(fold --lines)" '^main prog.c:6;outer prog.c:5;inner prog.c:4_\[i\];give prog.c:3$' 'lines, too'
is_int "$(grep -c "/buildid/$id/debuginfo" asked)" 1 'it was asked once: there is a cache'

mv prog gone
is_str "$(fold)" 'main;outer;inner_[i];give' 'the program is gone: its symbols are known by the build-id'
mv gone prog
cp t.flame bare.flame
ok 'names are packed' "$FLAME" pack -q t.flame
kill "$server"
wait "$server" 2>/dev/null
rm -rf cache
is_str "$(fold --lines)" 'main prog.c:6;outer prog.c:5;inner prog.c:4_[i];give prog.c:3' \
    'and there without the server'
is_str "$(cat err)" '' 'which is not missed'
mv bare.flame t.flame
mkdir cache
like "$(fold)" '^\[prog\+0x' 'no server, no names'
is_int "$(grep -c 'DEBUGINFOD_URLS could not be asked' err)" 1 'is said once'
for i in $(seq 300); do cp t.flame "many.$i.flame"; done
run_expect_status 0 'many traces' "$FLAME" pack -q many.*.flame
is_int "$(grep -c 'DEBUGINFOD_URLS could not be asked' err)" 1 'a server without an answer is asked once for all of them'
DEBUGINFOD_URLS=' ' run "$FLAME" fold t.flame
file_lacks err 'DEBUGINFOD' 'no URL: nobody is asked'
done_testing
