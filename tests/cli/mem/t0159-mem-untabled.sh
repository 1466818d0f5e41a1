#!/usr/bin/env bash
# Code without tables between functions whose rules only libunwind can follow: stacks are whole, and
# what is not known is marked.
. "${0%/*}/../lib.sh"

[ "$(uname -m)" = x86_64 ] || skip_all trampolines 'the code is for x86-64'
compile_victim trampolines -fomit-frame-pointer
cp trampolines tabled
compile_victim trampolines -fomit-frame-pointer -Wl,--no-eh-frame-hdr
mv trampolines untabled

chain='main;made3_\[j\];evaluate;made2_\[j\];evaluate;made1_\[j\];evaluate;made0_\[j\];evaluate'
for program in tabled untabled; do
    for how in plain inner; do
        run_expect_status 0 "$program $how" "$FLAME" mem -o x.folded -- "./$program" "$how" /tmp
        if [ "$how" = plain ]; then end=''; else end=';hard_malloc'; fi
        file_has x.folded "^$program;_start;.*;$chain$end 10000\$" 'its stack is whole'
        rm -f "/tmp/perf-$(cat out).map"
    done
done
run_expect_status 0 'a hard rule further out, too' "$FLAME" mem -o x.folded -- ./tabled each /tmp
file_has x.folded '^tabled;\[truncated\];hard_call;made0_\[j\];evaluate;hard_malloc 10000$' \
    'what is not known is marked'
rm -f "/tmp/perf-$(cat out).map"
done_testing
