#!/bin/bash
# Code for one processor is in files whose name ends in the processor's. flame for aarch64, if `make
# cross-aarch64` has built it, reads and draws the same as flame for this machine.
. "${0%/*}/../lib.sh"

# Folders and files that are only for x86-64 (docs/ports.md), and those that read its code.
only='inject/|inproc/|patch/patcher\.h|patch/find/|tracer/ptrace/|tracer/(tracer|tracer_process|offcpu_recorder|trace_nodes|nostop_run)\.|tracer/inproc/inproc_source\.c|render/dump/dumpsites\.c'
special() { # the files with code for one processor, except those that may have it
    (cd "$1" && grep -rlE '(immintrin|emmintrin|cpuid)\.h|_mm_[a-z]|\bREG_R[A-Z0-9]+\b|->r(ip|sp|bp|ax|di)\b|"(syscall|svc)\b|__builtin_ia32|\bEM_(X86_64|AARCH64)\b' \
        --include='*.[ch]' . | sed 's/^\.\///' | grep -vE "_(x86_64|aarch64)\.[ch]$|^($only)" | sort)
}
list=$(cd "$ROOT" && ls -d common unwind patch inproc preload tracer inject fold render driver)
mkdir tree
for folder in $list; do
    ln -s "$ROOT/$folder" tree/
done
# elfplt.c and debpackage.c read files of any processor.
is_str "$(special tree/. | grep -vx 'fold/symbols/elfplt\.c')" '' \
    'code for one processor is in files that end in its name'
mkdir -p wrong/fold
printf '#include <emmintrin.h>\n' >wrong/fold/fast.c
is_str "$(special wrong)" 'fold/fast.c' 'the check of processor code finds a wrong file'
for file in $(cd "$ROOT" && find common unwind preload tracer -name '*_x86_64.[h]' | sort); do
    [ -e "$ROOT/${file%_x86_64.h}_aarch64.h" ] || [ -e "$ROOT/${file%/*}/texthash_portable.h" ] || echo "$file"
done >lonely
is_str "$(cat lonely)" '' 'each header of x86-64 has a header of aarch64'

arm=$BUILD/aarch64 sysroot=$BUILD/sysroot-aarch64
if [ ! -e "$arm/flame" ] || [ ! -e "$sysroot/.complete" ] || ! command -v qemu-aarch64 >/dev/null; then
    skip cross 'make cross-aarch64 has built nothing here'
    done_testing
fi
there() {
    qemu-aarch64 -L "$sysroot" "$arm/flame" "$@"
}
printf 'main;a;b 3\nmain;a;c 4\nmain;a longer name than sixteen bytes;d 5\n' >in.folded
for out in svg html speedscope.json pb.gz; do
    "$FLAME" render -o "here.$out" in.folded && there render -o "there.$out" in.folded
    ok "flame for aarch64 draws the same $out" cmp "here.$out" "there.$out"
done
"$FLAME" collapse "$ROOT"/tests/corpus/collapse/perf >here.folded 2>here.err
there collapse "$ROOT"/tests/corpus/collapse/perf >there.folded 2>there.err
ok 'flame for aarch64 collapses the same stacks' cmp here.folded there.folded
ok 'flame for aarch64 prints the same messages' cmp here.err there.err
done_testing
