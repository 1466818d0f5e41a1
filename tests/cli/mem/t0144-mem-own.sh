#!/bin/bash
# Programs with their own malloc that must not be entered twice, or recursively.
. "${0%/*}/../lib.sh"

compile_victim lockedpool -O2 -fno-builtin -shared -fPIC -DLIBRARY
mv lockedpool libearly.so
# With and without tables for unwinding: without, the recorder loads libunwind.
compile_victim lockedpool -O2 -fno-builtin -pthread -L. -Wl,-rpath,"$SCRATCH" -l:libearly.so
mv lockedpool tables
compile_victim lockedpool -O2 -fno-builtin -fno-asynchronous-unwind-tables -fno-unwind-tables \
    -fomit-frame-pointer -pthread -L. -Wl,-rpath,"$SCRATCH" -l:libearly.so
mv lockedpool bare
# One that replaces the C library's malloc under all its names, as Chromium's does.
compile_victim lockedpool -O2 -fno-builtin -pthread -L. -Wl,-rpath,"$SCRATCH" -l:libearly.so \
    -Wl,--defsym,__libc_malloc=malloc,--export-dynamic-symbol=__libc_malloc
mv lockedpool claims

for program in tables bare claims; do
    for command in mem 'mem --libc-mappings' 'mem --rss' 'mem --sample 1k' run leak; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "flame $command of lockedpool $program succeeds" \
            timeout 60 "$FLAME" $command -q -o x.folded -- \
            "./$program" 10000
        is_str "$(cat out)" '20000 blocks, and an early one' \
            "flame $command of lockedpool $program: the program behaves as unrecorded"
        file_lacks err 'of its own' "flame $command of lockedpool $program reports no missing blocks"
    done
done

# ---- the functions of the program's own malloc are patched ----

# counted PROGRAM...: bytes by the functions that are innermost.
counted() {
    run "$FLAME" mem -q -o t.flame -- "$@"
    "$FLAME" fold --no-header --view "$view" t.flame | sed -E 's/_\[i\]//g; s/.*;([^;]*)$/\1/' |
        awk '{ n[$1] += $2 } END { for (f in n) printf "%s %.0f\n", f, n[f] }' | sort
}
view=alloc
has_line() {
    if grep -qxF -- "$2" <<<"$1"; then test_ok "$3"; else test_fail "$3" "$1"; fi
}
has_line "$(counted ./tables 10000)" 'keep_some 2000000' 'the bytes of a patched malloc count, in threads, too'
view=count
has_line "$(counted ./tables 10000)" 'keep_some 20000' 'the blocks of a patched malloc count'
view=live
has_line "$(counted ./tables 10000)" 'keep_some 1000000' 'the frees of a patched malloc count'
run "$FLAME" mem -o t.flame --no-patch -- ./tables 10000
file_has err '^flame: tables: has a malloc of its own; blocks .* are not recorded' \
    'flame mem --no-patch reports a malloc that is not recorded'
is_str "$("$FLAME" fold --no-header --view alloc t.flame)" '' \
    "flame mem --no-patch does not record the program's own malloc"
run_expect_status 23 'flame leak --live of a patched malloc ends with status 23' \
    "$FLAME" leak -o l.folded --live -- ./tables 100
file_has l.folded ';main;keep_some 5000$' 'flame leak --live has the blocks of a patched malloc'

# Names that are not exported: the symbol table has them, if the file is not stripped.
view=alloc
for name in je_malloc _rjem_malloc mi_malloc tc_malloc; do
    compile_victim ownpool -fno-builtin "-DMALLOC=$name"
    has_line "$(counted ./ownpool)" 'main 100' "$name in the program is recorded"
    file_lacks err 'of its own' "flame mem of a program's $name reports no missing blocks"
done
run_expect_status 0 'flame mem of a program run by the loader succeeds' \
    "$FLAME" mem -q -o t.flame -- /lib64/ld-linux-x86-64.so.2 ./ownpool
strip ownpool
is_str "$(counted ./ownpool)" '' "a stripped program's own malloc is not recorded"

# An allocator that programs are linked with.
archive=$(${CC:-cc} -print-file-name=libjemalloc.a)
if [ -f "$archive" ]; then
    folded() {
        run "$FLAME" mem -q -o t.flame -- ./keeper keep:100:1000 drop:30:500 fork keep:20 run keep:7
        for view in alloc count live temp; do
            "$FLAME" fold --no-header --view "$view" t.flame
        done
    }
    compile_victim keeper -fno-builtin
    want=$(folded)
    compile_victim keeper -fno-builtin "$archive" -lpthread -lm -ldl -lstdc++
    is_str "$(folded)" "$want" 'jemalloc linked into the program: the same counts as with the C library'
    file_lacks err 'of its own' 'jemalloc linked into the program: no missing blocks are reported'
else
    skip libjemalloc-dev 'no libjemalloc.a'
fi

done_testing
