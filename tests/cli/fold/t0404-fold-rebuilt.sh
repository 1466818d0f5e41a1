#!/bin/bash
# Programs that are built again after they were recorded: their frames are offsets, never
# another build's names, which module it is is said, and nothing is compared with them.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >prog.c <<'END'
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
NOINLINE void *give(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
#ifdef AGAIN
NOINLINE void spin(size_t n) { for (size_t i = 0; i < n; i++) __asm__ volatile("nop"); }
NOINLINE void *renamed(size_t n) { spin(n); return give(n); }
#else
NOINLINE void *first(size_t n) { void *p = give(n); __asm__ volatile("" ::: "memory"); return p; }
#define renamed first
#endif
int main(void)
{
    void *volatile keep = renamed(50);
    free(give(100));
    (void)keep;
    return 0;
}
END
build() { # FLAG...
    "${CC:-gcc}" -O1 -g -fno-optimize-sibling-calls "$@" -o prog prog.c
}

lost() { # NAME COMMAND...: it refuses to compare
    local name=$1
    shift
    run_expect_status 2 "$name: no comparison" "$@"
    file_has err '^flame: diff: .* has lost the names of prog, ' "$name: says so"
    is_int "$(wc -c <out)" 0 "$name: writes nothing"
}

# With a build-id, and as linkers that write none leave it.
for id in sha1 none; do
    build "-Wl,--build-id=$id"
    record '' ./prog
    mv t.flame v1.flame
    cp prog prog.v1
    run_expect_status 0 "$id: before" "$FLAME" fold --no-inline -o v1.folded v1.flame
    is_str "$(cat err)" '' 'nothing to say'
    file_has v1.folded ';main;first;give 50$' 'named'
    build -DAGAIN "-Wl,--build-id=$id"
    record '' ./prog
    mv t.flame v2.flame

    run_expect_status 0 "$id: after it was built again" "$FLAME" fold --no-inline v1.flame
    is_int "$(wc -l <err)" 1 'one line'
    file_has err '^flame: .*/prog: not the file that was recorded \(built again' 'names the file'
    file_has out ';\[prog\+0x[0-9a-f]+\] 50$' 'offsets'
    file_lacks out 'give|renamed|first|main [0-9]' 'and no name of another build'
    file_has out '^# flame: names-lost=prog:[0-9a-f]+$' 'which the text says'
    cp out lost.folded
    run "$FLAME" fold --no-header v1.flame
    file_lacks out '^#' 'unless asked not to'
    run_expect_status 0 "$id: the new one" "$FLAME" fold --no-inline v2.flame
    file_has out ';main;renamed;give 50$' 'has its names'

    lost "$id: old and new" "$FLAME" diff --fail-above 5% v1.flame v2.flame
    lost "$id: new and old" "$FLAME" diff v2.flame v1.flame
    lost "$id: folded before and old" "$FLAME" diff v1.folded v1.flame
    lost "$id: folded after and new" "$FLAME" diff -o no.folded lost.folded v2.flame
    not_ok "$id: no file" test -e no.folded
    awk 'BEGIN { for (i = 0; i < 60000; i++) print "a;b;c" i ";dddddddddddddddddd " i + 1 }' >large
    cat lost.folded large >large.lost
    cat v1.folded large >large.named
    lost "$id: large files" "$FLAME" diff large.named large.lost
    ok "$id: merged" "$FLAME" fold -o merged.folded v1.folded lost.folded
    lost "$id: merged and new" "$FLAME" diff - v2.flame <merged.folded
    run_expect_status 0 "$id: with itself" "$FLAME" diff --fail-above 5% v1.flame lost.folded
    file_has out '\[prog\+0x[0-9a-f]+\] 50 50$' 'offsets in one build'
    run_expect_status 0 "$id: folded in time" "$FLAME" diff v1.folded v2.flame

    mv prog gone
    run_expect_status 0 "$id: it is gone" "$FLAME" fold v2.flame
    is_int "$(wc -l <err)" 1 'one line'
    file_has err '^flame: .*/prog: not here any more, or cannot be read; its frames show as offsets' 'says so'
    lost "$id: gone and folded before" "$FLAME" diff v1.folded v2.flame

    cp prog.v1 prog
    run_expect_status 0 "$id: it is back" "$FLAME" fold --no-inline v1.flame
    ok 'with all names' cmp out v1.folded
    strip -g prog
    run_expect_status 0 "$id: without debug information" "$FLAME" fold --no-inline v1.flame
    ok 'it is the same file' cmp out v1.folded
done

# A shared library, recorded by the tracer.
cat >lib.c <<'END'
#include <time.h>
#ifdef AGAIN
void unused(void) { time(0); clock(); }
#endif
void nap(void)
{
    struct timespec t = {0, 20000000};

    nanosleep(&t, 0);
}
END
echo 'void nap(void); int main(void) { nap(); return 0; }' >naps.c
for id in sha1 none; do
    "${CC:-gcc}" -O1 -shared -fPIC "-Wl,--build-id=$id" -o libnap.so lib.c
    "${CC:-gcc}" -O1 -o naps naps.c ./libnap.so
    run_expect_status 0 "$id: naps are recorded" "$FLAME" off -q --no-names -o nap.flame -- ./naps
    run "$FLAME" fold nap.flame
    file_has out 'main;nap' "$id: its names"
    is_str "$(cat err)" '' "$id: without a word"
    "${CC:-gcc}" -O1 -DAGAIN -shared -fPIC "-Wl,--build-id=$id" -o libnap.so lib.c
    run "$FLAME" fold nap.flame
    file_has out 'main;\[libnap.so\+0x' "$id: a library that was built again"
    file_has err '/libnap.so: not the file that was recorded' "$id: is named"
done

done_testing
