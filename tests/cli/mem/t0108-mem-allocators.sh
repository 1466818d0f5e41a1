#!/usr/bin/env bash
# Other allocators as the next definition, with 8-byte-aligned blocks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >eights.c <<'EOF'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static void *blocks[20000];
int main(void)
{
    int odd = 0;
    for (int i = 0; i < 20000; i++) {
        blocks[i] = malloc(1 + i % 8);
        odd += (uintptr_t)blocks[i] % 16 == 8;
    }
    for (int i = 0; i < 20000; i += 2)
        free(blocks[i]);
    char text[16];
    int n = snprintf(text, sizeof text, "%d\n", odd);
    _exit(write(1, text, n) != n);
}
EOF
ok 'eights is built' "${CC:-gcc}" -O1 -g -fno-builtin -o eights eights.c
for lib in libjemalloc.so.2 libtcmalloc_minimal.so.4; do
    BENEATH=$lib record "" ./eights
    is_int "$status" 0 "$lib: eights ends with status 0"
    is_str "$(cat err)" "" "$lib: eights prints no error"
    ok "$lib returns blocks at odd multiples of 8" test "$(cat out)" -gt 1000
    is_int "$(fview count | from_main | awk '{ n += $NF } END { print n }')" 20000 "$lib: calls of eights"
    is_int "$(fview alloc | from_main | awk '{ n += $NF } END { print n }')" 90000 \
        "$lib: bytes that eights allocated"
    is_int "$(fview live | from_main | awk '{ n += $NF } END { print n }')" 50000 \
        "$lib: bytes live at the end of eights"
done
done_testing
