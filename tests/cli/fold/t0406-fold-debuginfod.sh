#!/bin/bash
# Debug files from a server that DEBUGINFOD_URLS names: names of stripped programs, and for
# packed traces; and servers that have no file, or do not answer.
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

# A server on the loopback, which prints its port.
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

fold() { # the names of the stack
    run "$FLAME" fold --no-header "$@" t.flame
    sed -n 's/^.*;\(\[\{0,1\}prog[^;]*\|main.*\) 50$/\1/p' out
}
like "$(fold)" '^\[prog\+0x' 'a stripped program without DEBUGINFOD_URLS has no names'
not_ok 'fold without DEBUGINFOD_URLS asks no server' test -e asked
export DEBUGINFOD_URLS=$url
is_str "$(fold)" 'main;outer;inner_[i];give' \
    'a stripped program with DEBUGINFOD_URLS has names and inlined frames'
is_str "$(cat err)" '' 'fold with DEBUGINFOD_URLS prints nothing'
ok 'fold with DEBUGINFOD_URLS asks the server for the build-id' grep -qx "/buildid/$id/debuginfo" asked
like "$(fold --lines)" '^main prog.c:6;outer prog.c:5;inner prog.c:4_\[i\];give prog.c:3$' \
    'fold --lines with DEBUGINFOD_URLS has lines'
is_int "$(grep -c "/buildid/$id/debuginfo" asked)" 1 'fold asks the server once and uses the cache'

mv prog gone
is_str "$(fold)" 'main;outer;inner_[i];give' 'a removed program has names by its build-id'
mv gone prog
cp t.flame bare.flame
ok 'flame pack with DEBUGINFOD_URLS succeeds' "$FLAME" pack -q t.flame
kill "$server"
wait "$server" 2>/dev/null
rm -rf cache
is_str "$(fold --lines)" 'main prog.c:6;outer prog.c:5;inner prog.c:4_[i];give prog.c:3' \
    'a packed trace has names without the server'
is_str "$(cat err)" '' 'fold of a packed trace does not ask the server'
mv bare.flame t.flame
mkdir cache
like "$(fold)" '^\[prog\+0x' 'fold with an unreachable server has no names'
is_int "$(grep -c 'DEBUGINFOD_URLS could not be asked' err)" 1 'fold with an unreachable server says so once'
for i in $(seq 300); do cp t.flame "many.$i.flame"; done
run_expect_status 0 'flame pack of many traces with an unreachable server succeeds' \
    "$FLAME" pack -q many.*.flame
is_int "$(grep -c 'DEBUGINFOD_URLS could not be asked' err)" 1 \
    'flame pack of many traces asks an unreachable server once'
DEBUGINFOD_URLS=' ' run "$FLAME" fold t.flame
file_lacks err 'DEBUGINFOD' 'an empty DEBUGINFOD_URLS asks no server'
done_testing
