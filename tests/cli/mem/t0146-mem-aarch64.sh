#!/bin/bash
# The recorder of `make cross-aarch64` under qemu-user: stacks by flame's rules are those of the
# source and, with referee=1, libunwind's, and both flames read the trace alike.
. "${0%/*}/../lib.sh"

arm=$BUILD/aarch64 sysroot=$BUILD/sysroot-aarch64
compiler="aarch64-linux-gnu-gcc --sysroot=$sysroot"
if [ ! -e "$arm/libflamemem.so" ] || [ ! -e "$sysroot/.complete" ] || ! command -v qemu-aarch64 >/dev/null; then
    skip_all cross 'make cross-aarch64 has built nothing here'
fi

cat >mixed.c <<'EOF'
#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#define NOINLINE __attribute__((noinline, noclone))
static volatile int sink;
NOINLINE static void plain(size_t n)
{
    free(malloc(n));
    sink++;
}
NOINLINE static void variable(size_t n)
{
    char *more = alloca(n);
    memset(more, 1, n);
    plain(n);
    sink += more[n - 1];
}
NOINLINE static void aligned(size_t n)
{
    volatile char wide[64] __attribute__((aligned(64)));
    wide[0] = (char)n;
    plain(n);
    sink += wide[0];
}
NOINLINE static void deep(int n)
{
    if (n)
        deep(n - 1);
    else
        plain(16);
    sink++;
}
static int compare(const void *a, const void *b)
{
    plain(8);
    return *(const int *)a - *(const int *)b;
}
int main(void)
{
    int two[2] = {2, 1};
    for (int i = 0; i < 3; i++)
        plain(10);
    variable(100);
    aligned(20);
    deep(5);
    qsort(two, 2, sizeof *two, compare);
    return 0;
}
EOF

# Frames of the C library in between do not matter; its names are in another package.
from_main() {
    sed -n 's/.*;main;/main;/p' | sed 's/main;.*;compare/main;qsort;compare/' | sort
}

# shellcheck disable=SC2317 # ok calls it
record() { # NAME FLAG...: builds mixed.c with these flags, records it, and folds its calls
    local name=$1 referee=1
    shift
    # libunwind 1.6 does not know signed return addresses.
    case $* in *branch-protection*) referee=0 ;; esac
    # shellcheck disable=SC2086 # a compiler with an option
    $compiler "$@" -g -o "$name" mixed.c || return
    qemu-aarch64 -L "$sysroot" -E LD_PRELOAD="$arm/libflamemem.so" \
        -E FLAMEMEM_OPTIONS="out=$SCRATCH/$name.trace:referee=$referee" "./$name" >"$name.said" 2>&1 || return
    "$FLAME" fold --view count --no-inline "$name.trace" 2>"$name.err" |
        from_main >"$name.folded"
}

cat >want <<'EOF'
main;aligned;plain 1
main;deep;deep;deep;deep;deep;deep;plain 1
main;plain 3
main;qsort;compare;plain 1
main;variable;plain 1
EOF
n=0
for flags in -O0 -O2 '-O2 -fomit-frame-pointer' '-O2 -mbranch-protection=standard -march=armv8.3-a'; do
    n=$((n + 1))
    # shellcheck disable=SC2086 # several options
    ok "aarch64, gcc $flags: mixed is recorded" record "p$n" -fno-optimize-sibling-calls $flags
    is_str "$(cat "p$n.folded")" "$(cat want)" "aarch64, gcc $flags: the stacks are those of the source"
    is_str "$(cat "p$n.said")" '' "aarch64, gcc $flags: each stack equals libunwind's"
done

ok 'flame for aarch64 reads the trace' \
    eval 'qemu-aarch64 -L "$sysroot" "$arm/flame" fold --view count p2.trace >there 2>/dev/null'
"$FLAME" fold --view count p2.trace >here 2>/dev/null
is_str "$(from_main <there)" "$(from_main <here)" 'flame for aarch64 and flame here fold the trace alike'

# Kernels have pages of 16 KiB (Raspberry Pi 5) and of 64 KiB, too.
# qemu does not tell its vector instructions which addresses are in the rest of a larger page: this one has none.
cat >maps.c <<'EOF'
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
__attribute__((noinline, noclone)) static char *maps(size_t n)
{
    return mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
int main(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *four = maps(4 * page);
    maps(1)[page - 1] = 1;
    munmap(four + page, 1);
    return four[3 * page] || malloc(100) == NULL;
}
EOF
# shellcheck disable=SC2086 # a compiler with an option
ok 'maps is built' $compiler -O1 -g -o maps maps.c
for pages in 16384 65536; do
    for program in p2 maps; do
        qemu-aarch64 -cpu cortex-a72 -p $pages -L "$sysroot" -E LD_PRELOAD="$arm/libflamemem.so" \
            -E FLAMEMEM_OPTIONS="out=$SCRATCH/$program.$pages" ./$program >out 2>&1
        is_str "$? $(cat out)" '0 ' "aarch64 with pages of $pages bytes: $program is recorded"
    done
    is_str "$("$FLAME" fold --view count --no-inline p2.$pages 2>/dev/null | from_main)" "$(cat want)" \
        "aarch64 with pages of $pages bytes: the stacks are those of the source"
    is_str "$("$FLAME" fold --view mmap --no-inline maps.$pages 2>/dev/null | sed -n 's/.*;\(main;maps\)/\1/p')" \
        "main;maps;[anonymous memory] $((4 * pages))" "aarch64 with pages of $pages bytes: a mapping has whole pages"
done

qemu-aarch64 -L "$sysroot" "$arm/flame" off -- true >out 2>err
is_int $? 2 'flame off under qemu-user ends with status 2'
is_int "$(wc -l <err)" 1 'flame off under qemu-user prints one line'
like "$(cat err)" 'no seccomp filters' 'flame off under qemu-user says why'
qemu-aarch64 -L "$sysroot" "$arm/flame" off --in-process -- true >out 2>err
is_int $? 2 'flame off --in-process on aarch64 ends with status 2'
is_int "$(wc -l <err)" 1 'flame off --in-process on aarch64 prints one line'
like "$(cat err)" '--in-process is for x86-64 only, and this is aarch64' \
    'flame off --in-process on aarch64 says why'

done_testing
