#!/usr/bin/env bash
# Sampling: estimates near the truth, frees that cancel exactly, and results that say so.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# shellcheck disable=SC2317 # called through ok
near() { # GOT WANT PERCENT
    awk "BEGIN { exit !($1 > $2 * (1 - $3 / 100) && $1 < $2 * (1 + $3 / 100)) }"
}

compile_victim entries
record "" ./entries
bytes=$(total alloc)
record sample=4096 ./entries
is_int "$status" 3 'sample=4096: the program behaves as unrecorded'
# The standard error is below 1 % here; ten of them.
ok "sample=4096 estimates the bytes ($(total alloc) of $bytes)" near "$(total alloc)" "$bytes" 10
like "$("$FLAME" fold t.flame | head -n 1)" 'sample=4096' 'the header of folded text has the sampling interval'
"$FLAME" render -o s.svg t.flame
file_has s.svg 'estimates: sampled every 4.00 KiB' 'the picture has the sampling interval'

cat >even.c <<'EOF'
#include <stdlib.h>
#include <unistd.h>
int main(void)
{
    for (int round = 0; round < 200; round++) {
        void *blocks[500];
        for (int i = 0; i < 500; i++)
            blocks[i] = malloc(i * 13 % 700);
        for (int i = 0; i < 500; i++)
            free(blocks[i]);
    }
    _exit(0);
}
EOF
ok 'even is built' "${CC:-gcc}" -O1 -g -fno-builtin -o even even.c
record sample=1000 ./even
ok 'sample=1000 records the sampled blocks' test "$(fview count | grep -c ';main ')" -eq 1
is_int "$(fview live | grep -c ';main ')" 0 'sample=1000: a freed block subtracts what it added'

record record=0 ./entries
is_int "$status" 3 'record=0: the program runs'
not_ok 'record=0 writes no trace' test -e t.flame
run_expect_status 2 'flame mem --sample 5q ends with status 2' "$FLAME" mem --sample 5q -- true
file_has err 'sample 5q: expected bytes' 'flame mem --sample 5q: the error has the option'

size=$(($(readelf -lW "$SHIM" | awk '$1 == "TLS" { print $6 }')))
ok "libflamemem.so has at most 64 bytes of thread-local data ($size)" test "$size" -le 64
ok 'libflamemem.so has initial-exec TLS: the STATIC_TLS flag' grep -q STATIC_TLS <(readelf -dW "$SHIM")
done_testing
