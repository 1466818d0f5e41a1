#!/bin/bash
# Programs with a malloc of their own that must not be entered twice, or from within.
. "${0%/*}/../lib.sh"

compile_victim lockedpool -O2 -fno-builtin -shared -fPIC -DLIBRARY
mv lockedpool libearly.so
# With and without tables for unwinding: without, the recorder asks a library that it loads.
compile_victim lockedpool -O2 -fno-builtin -pthread -L. -Wl,-rpath,"$SCRATCH" -l:libearly.so
mv lockedpool tables
compile_victim lockedpool -O2 -fno-builtin -fno-asynchronous-unwind-tables -fno-unwind-tables \
    -fomit-frame-pointer -pthread -L. -Wl,-rpath,"$SCRATCH" -l:libearly.so
mv lockedpool bare
# One that stands in for the C library by all its names, as Chromium's.
compile_victim lockedpool -O2 -fno-builtin -pthread -L. -Wl,-rpath,"$SCRATCH" -l:libearly.so \
    -Wl,--defsym,__libc_malloc=malloc,--export-dynamic-symbol=__libc_malloc
mv lockedpool claims

for program in tables bare claims; do
    for command in mem 'mem --libc-mappings' 'mem --rss' 'mem --sample 1k' run leak; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "flame $command, $program" timeout 60 "$FLAME" $command -q -o x.folded -- \
            "./$program" 10000
        is_str "$(cat out)" '20000 blocks, and an early one' 'is not held up'
        file_lacks err 'of its own' 'and nothing is missing'
    done
done

# ---- its functions are patched ----

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
has_line "$(counted ./tables 10000)" 'keep_some 2000000' 'what it allocates is recorded, in threads, too'
view=count
has_line "$(counted ./tables 10000)" 'keep_some 20000' 'to the block'
view=live
has_line "$(counted ./tables 10000)" 'keep_some 1000000' 'and what it frees'
run "$FLAME" mem -o t.flame --no-patch -- ./tables 10000
file_has err '^flame: tables: has a malloc of its own; blocks .* are not recorded' '--no-patch leaves it'
is_str "$("$FLAME" fold --no-header --view alloc t.flame)" '' 'unseen'
run_expect_status 23 'what it loses' "$FLAME" leak -o l.folded --live -- ./tables 100
file_has l.folded ';main;keep_some 5000$' 'is told'

# Names that are not exported: the symbol table has them, if the file is not stripped.
view=alloc
for name in je_malloc _rjem_malloc mi_malloc tc_malloc; do
    compile_victim ownpool -fno-builtin "-DMALLOC=$name"
    has_line "$(counted ./ownpool)" 'main 100' "$name in the program is recorded"
    file_lacks err 'of its own' 'and not missed'
done
run_expect_status 0 'told to run another' "$FLAME" mem -q -o t.flame -- /lib64/ld-linux-x86-64.so.2 ./ownpool
strip ownpool
is_str "$(counted ./ownpool)" '' 'nobody knows where it is in a stripped one'

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
    is_str "$(folded)" "$want" 'jemalloc in the program: the same as with the C library'
    file_lacks err 'of its own' 'and nothing is missing'
else
    skip libjemalloc-dev 'no libjemalloc.a'
fi

done_testing
