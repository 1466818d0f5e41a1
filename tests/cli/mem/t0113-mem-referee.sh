#!/usr/bin/env bash
# Builds of every kind: each stack by flame's rules must be the one that libunwind finds without caches.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# A program with calls through the PLT, a callback from qsort, variable-length
# arrays, an aligned frame, alloca, tail calls and a signal handler.
cat >mixed.c <<'EOF'
#define _GNU_SOURCE
#include <alloca.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static volatile int sink;
static void *root;
static int compare(const void *a, const void *b)
{
    free(malloc(8));
    return strcmp(a, b);
}
static void handler(int sig)
{
    free(malloc((size_t)sig));
}
__attribute__((noinline)) static void aligned(int n)
{
    volatile char wide[64] __attribute__((aligned(64)));
    wide[0] = (char)n;
    free(malloc((size_t)n + (size_t)wide[0]));
    sink++;
}
__attribute__((noinline)) static void vla(int n)
{
    char buf[n];
    char *more = alloca((size_t)n);
    memset(buf, n, (size_t)n);
    memset(more, n, (size_t)n);
    free(strdup("variable"));
    sink += buf[0] + more[0];
}
__attribute__((noinline)) static void *tail(int n)
{
    return malloc((size_t)n + 3);
}
__attribute__((noinline)) static void recurse(int n)
{
    char name[16];
    if (n == 0) {
        aligned(5);
        vla(40);
        free(tail(1));
        raise(SIGUSR1);
        return;
    }
    snprintf(name, sizeof name, "n%d", n);
    tsearch(strdup(name), &root, compare);
    recurse(n - 1);
    sink++;
}
int main(void)
{
    signal(SIGUSR1, handler);
    for (int i = 0; i < 20; i++)
        recurse(i);
    return 0;
}
EOF

compilers=gcc
command -v clang >/dev/null && compilers="gcc clang"
for cc in $compilers; do
    for flags in -O0 -O1 -O2 -Os "-O2 -fomit-frame-pointer" "-O2 -fno-omit-frame-pointer" \
        "-O2 -fno-plt" "-O2 -no-pie -fno-pie" "-O2 -fcf-protection=none" "-O3 -flto"; do
        # shellcheck disable=SC2086 # several flags
        if ! "$cc" -g $flags -o mixed mixed.c 2>cc.err; then
            skip no-flag "$cc does not know $flags"
            continue
        fi
        record referee=1 ./mixed
        is_str "$status$(cat err)" 0 "$cc $flags: each stack equals libunwind's"
    done
    # Without unwind tables, but with debug information: .debug_frame has them.
    for frame in -fomit-frame-pointer -fno-omit-frame-pointer; do
        "$cc" -g -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables $frame -o mixed mixed.c
        record "" ./mixed
        is_int "$status" 0 "$cc without unwind tables, $frame: the program ends with status 0"
        # main, entrance and all twenty levels, on to the outermost frame
        ok "$cc without unwind tables, $frame: .debug_frame leads to the root" \
            test "$(fview count | grep -c '_start;.*;main;recurse;.*recurse')" -ge 1
    done
    # Without either only frame pointers are left.
    "$cc" -O2 -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer \
        -o mixed mixed.c
    record "" ./mixed
    is_int "$status" 0 "$cc with frame pointers only: the program ends with status 0"
    ok "$cc with frame pointers only: they lead to main" \
        test "$(fview count | grep -c ';main;recurse;.*recurse')" -ge 1
done

compile_victim crowd -pthread
record referee=1 ./crowd
is_str "$status$(cat err)" 0 "eight threads: each stack equals libunwind's"
done_testing
