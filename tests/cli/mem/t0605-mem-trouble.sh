#!/usr/bin/env bash
# Errors that users have met: limits, sanitizers, old pictures, peaks of several threads and
# processes.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

bytes_after() { # WORD: the exact bytes after it in the summary
    grep -o "$1 [^;]*" err | grep -Eo '[0-9,]+ bytes' | head -n 1 | tr -d ', a-z'
}

compile_victim crowd -pthread
run "$FLAME" mem -o t.flame -- ./crowd
is_int "$(bytes_after peak)" "$(total peak)" "threads: the summary's peak is the picture's"
ok 'threads: the peak is at least the live bytes at the end' test "$(bytes_after peak)" -ge "$(total live)"

cat >server.c <<'EOF'
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static char *big, *volatile small;
int main(void)
{
    big = malloc(1000000);
    for (int i = 0; i < 20; i++)
        if (fork() == 0) {
            small = malloc(100);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    return big == NULL;
}
EOF
ok 'server is built' "${CC:-gcc}" -O1 -g -fno-builtin -o server server.c
run "$FLAME" mem --view peak -o p.folded -- ./server
ok 'forked children: the summary counts inherited blocks once' \
    test "$(bytes_after peak)" -lt 1100000
ok 'forked children: the picture counts inherited blocks once' \
    test "$(awk '/^[^#]/ { n += $NF } END { print n }' p.folded)" -lt 1100000

ulimit -c 0
record "" ./crowd
run bash -c 'ulimit -f 2; exec "$FLAME" render -o big.svg t.flame'
is_int "$status" 1 'render over the file size limit ends with status 1, not by a signal'
file_has err 'big.svg: cannot write: File too large' 'render over the file size limit says why'
is_str "$(ls big.svg*)" "" 'render over the file size limit leaves no partial file' 2>/dev/null
run bash -c 'ulimit -f 30; trap - XFSZ; exec "$FLAME" mem -o x.svg -- sh -c "head -c 100000 /dev/zero >f; kill -s XFSZ \$\$"'
is_int "$status" 153 'the command has the default action of SIGXFSZ'

run "$FLAME" mem -q -o same.svg -- ./crowd
ok 'flame mem -o same.svg writes a picture' test -s same.svg
run "$FLAME" mem -q --view live -o same.svg -- /bin/true
is_int "$status" 0 'flame mem with an empty view over an older picture ends with status 0'
not_ok 'flame mem with an empty view removes an older picture of that name' test -e same.svg

# gcc's sanitizers are libraries that must be loaded first, clang's are in the program. Neither
# can be recorded; a helper that they start (llvm-symbolizer) must not count as the program.
for cc in "${CC:-gcc}" clang; do
    for kind in address thread memory; do
        "$cc" -fsanitize=$kind -o guarded server.c 2>/dev/null || continue
        run_expect_status 2 "$cc, $kind sanitizer: flame mem ends with status 2" "$FLAME" mem ./guarded
        file_has err 'guarded: is built with a sanitizer' "$cc, $kind sanitizer: flame mem says why"
        run env ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD="$SHIM" \
            FLAMEMEM_OPTIONS="out=$SCRATCH/g.flame" ./guarded
        file_has err 'libflamemem: the program is built with a sanitizer' \
            "$cc, $kind sanitizer: the preloaded library does not record"
        not_ok "$cc, $kind sanitizer: no trace is written" test -e g.flame
    done
done

for what in /dev/null "$SCRATCH"; do
    run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$what" /bin/true
    is_int "$status" 0 "out=$what: the program runs"
    file_has err 'no regular file' "out=$what: a line says why"
    not_ok "out=$what: no file beside it is written" test -e "$what.1"
done
done_testing
