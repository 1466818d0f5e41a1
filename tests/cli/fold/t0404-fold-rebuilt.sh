#!/bin/bash
# Programs that are built again after their recording: their frames are offsets, never
# another build's names, the module is reported, and no comparison uses them.
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

lost() { # NAME COMMAND...: the comparison is refused
    local name=$1
    shift
    run_expect_status 2 "$name: diff ends with status 2" "$@"
    file_has err '^flame: diff: .* has lost the names of prog, ' "$name: diff names the module"
    is_int "$(wc -c <out)" 0 "$name: diff writes nothing"
}

# With a build-id, and without.
for id in sha1 none; do
    build "-Wl,--build-id=$id"
    record '' ./prog
    mv t.flame v1.flame
    cp prog prog.v1
    run_expect_status 0 "build-id $id: fold before the rebuild succeeds" \
        "$FLAME" fold --no-inline -o v1.folded v1.flame
    is_str "$(cat err)" '' "build-id $id: fold before the rebuild prints nothing"
    file_has v1.folded ';main;first;give 50$' "build-id $id: fold before the rebuild has names"
    build -DAGAIN "-Wl,--build-id=$id"
    record '' ./prog
    mv t.flame v2.flame

    run_expect_status 0 "build-id $id: fold after the rebuild succeeds" "$FLAME" fold --no-inline v1.flame
    is_int "$(wc -l <err)" 1 "build-id $id: fold after the rebuild prints one line"
    file_has err '^flame: .*/prog: not the file that was recorded \(built again' \
        "build-id $id: fold after the rebuild names the file"
    file_has out ';\[prog\+0x[0-9a-f]+\] 50$' "build-id $id: fold after the rebuild has offsets"
    file_lacks out 'give|renamed|first|main [0-9]' \
        "build-id $id: fold after the rebuild has no name of the other build"
    file_has out '^# flame: names-lost=prog:[0-9a-f]+$' "build-id $id: the folded text says that names are lost"
    cp out lost.folded
    run "$FLAME" fold --no-header v1.flame
    file_lacks out '^#' "build-id $id: fold --no-header does not say that names are lost"
    run_expect_status 0 "build-id $id: fold of the new build's trace succeeds" \
        "$FLAME" fold --no-inline v2.flame
    file_has out ';main;renamed;give 50$' "build-id $id: fold of the new build's trace has names"

    lost "$id: old and new" "$FLAME" diff --fail-above 5% v1.flame v2.flame
    lost "$id: new and old" "$FLAME" diff v2.flame v1.flame
    lost "$id: folded before and old" "$FLAME" diff v1.folded v1.flame
    lost "$id: folded after and new" "$FLAME" diff -o no.folded lost.folded v2.flame
    not_ok "build-id $id: a refused diff writes no file" test -e no.folded
    awk 'BEGIN { for (i = 0; i < 60000; i++) print "a;b;c" i ";dddddddddddddddddd " i + 1 }' >large
    cat lost.folded large >large.lost
    cat v1.folded large >large.named
    lost "$id: large files" "$FLAME" diff large.named large.lost
    ok "build-id $id: text with and without names can be merged" \
        "$FLAME" fold -o merged.folded v1.folded lost.folded
    lost "$id: merged and new" "$FLAME" diff - v2.flame <merged.folded
    run_expect_status 0 "build-id $id: diff of one build's offsets succeeds" \
        "$FLAME" diff --fail-above 5% v1.flame lost.folded
    file_has out '\[prog\+0x[0-9a-f]+\] 50 50$' "build-id $id: diff of one build's offsets has both counts"
    run_expect_status 0 "build-id $id: diff of text folded before the rebuild succeeds" \
        "$FLAME" diff v1.folded v2.flame

    mv prog gone
    run_expect_status 0 "build-id $id: fold of a removed program succeeds" "$FLAME" fold v2.flame
    is_int "$(wc -l <err)" 1 "build-id $id: fold of a removed program prints one line"
    file_has err '^flame: .*/prog: not here any more, or cannot be read; its frames show as offsets' \
        "build-id $id: fold of a removed program says so"
    lost "$id: gone and folded before" "$FLAME" diff v1.folded v2.flame

    cp prog.v1 prog
    run_expect_status 0 "build-id $id: fold of the restored program succeeds" "$FLAME" fold --no-inline v1.flame
    ok "build-id $id: fold of the restored program has all names" cmp out v1.folded
    strip -g prog
    run_expect_status 0 "build-id $id: fold of the program without debug information succeeds" \
        "$FLAME" fold --no-inline v1.flame
    ok "build-id $id: the program without debug information is the same file" cmp out v1.folded
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
    run_expect_status 0 "build-id $id: flame off of naps succeeds" \
        "$FLAME" off -q --no-names -o nap.flame -- ./naps
    run "$FLAME" fold nap.flame
    file_has out 'main;nap' "build-id $id: the library's frames have names"
    is_str "$(cat err)" '' "build-id $id: fold of naps prints nothing"
    "${CC:-gcc}" -O1 -DAGAIN -shared -fPIC "-Wl,--build-id=$id" -o libnap.so lib.c
    run "$FLAME" fold nap.flame
    file_has out 'main;\[libnap.so\+0x' "build-id $id: a library built again has offsets"
    file_has err '/libnap.so: not the file that was recorded' "build-id $id: a library built again is reported"
done

done_testing
