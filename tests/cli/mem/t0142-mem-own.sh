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

for program in tables bare; do
    for command in mem 'mem --inside' 'mem --rss' run leak; do
        # shellcheck disable=SC2086 # words
        run_expect_status 0 "flame $command, $program" timeout 60 "$FLAME" $command -q -o x.folded -- \
            "./$program" 10000
        is_str "$(cat out)" '20000 blocks, and an early one' 'is not held up'
    done
done

done_testing
