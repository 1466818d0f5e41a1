#!/usr/bin/env bash
# Code without tables between functions whose rules only libunwind can follow: stacks are complete, and
# unknown parts are marked.
. "${0%/*}/../lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all trampolines 'the code is for x86-64'
compile_victim trampolines -fomit-frame-pointer
cp trampolines tabled
compile_victim trampolines -fomit-frame-pointer -Wl,--no-eh-frame-hdr
mv trampolines untabled

chain='main;made3_\[j\];evaluate;made2_\[j\];evaluate;made1_\[j\];evaluate;made0_\[j\];evaluate'
for program in tabled untabled; do
    for how in plain inner; do
        run_expect_status 0 "flame mem of $program $how succeeds" \
            "$FLAME" mem -o x.folded -- "./$program" "$how" /tmp
        if [ "$how" = plain ]; then end=''; else end=';hard_malloc'; fi
        file_has x.folded "^$program;_start;.*;$chain$end 10000\$" "the stack of $program $how is complete"
        rm -f "/tmp/perf-$(cat out).map"
    done
done
run_expect_status 0 'flame mem of code without tables behind a hard rule succeeds' \
    "$FLAME" mem -o x.folded -- ./tabled each /tmp
file_has x.folded '^tabled;\[truncated\];hard_call;made0_\[j\];evaluate;hard_malloc 10000$' \
    'the unknown part of a stack behind a hard rule is [truncated]'
rm -f "/tmp/perf-$(cat out).map"
done_testing
