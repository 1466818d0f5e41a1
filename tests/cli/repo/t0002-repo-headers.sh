#!/bin/bash
# Every header compiles alone, and every file's name is the only one of its kind.
. "${0%/*}/../lib.sh"
cd "$ROOT" || exit 1

headers=$(find common unwind patch inproc preload tracer fold render driver -name '*.h' 2>/dev/null; ls tests/*.h)
# Two at a time, by the build's own compiler and cache; a bad one does not prevent the check of others.
# FLAME_MAKE is `make` with the flags of the build under test.
ok 'make headers compiles each header alone' bash -c "$FLAME_MAKE -k -j2 headers"
is_str "$(for header in $headers; do [ -e "$BUILD/headers/${header%.h}.o" ] || echo "$header"; done)" '' \
    'each header has its object'

guards=$(for header in $headers; do
    want=FLAME_$(echo "${header%.h}" | tr 'a-z/-' 'A-Z__')_H
    grep -q "^#ifndef $want\$" "$header" || echo "$header: want $want"
done)
is_str "$guards" '' 'include guards follow the path'

is_str "$(find common unwind patch inproc preload tracer fold render driver tests -name '*.[ch]' 2>/dev/null |
    sed 's|.*/||' | sort | uniq -d)" '' 'no two source files share a name'

# Calls above 435 are newer than glibc 2.31's headers (Debian 11): flame has its own numbers.
newer=$(echo '#include <sys/syscall.h>' | "${CC:-gcc}" -E -dM - |
    awk '$2 ~ /^__NR_/ && $3 > 435 && $3 < 512 { sub(/^__NR_/, "SYS_", $2); print $2 }')
missing=$(for call in $newer; do
    grep -rlw "$call" --include='*.[ch]' flame.c common unwind patch inproc preload tracer fold render driver tests |
        grep -vx common/sysnr.h | while read -r file; do
        grep -q "^#define $call " common/sysnr.h || echo "$call is not in common/sysnr.h"
        grep -q '^#include "common/sysnr.h"' "$file" || echo "$file: $call without common/sysnr.h"
    done
done)
is_str "$missing" '' 'new system calls have their numbers from common/sysnr.h'

# One function for each task: common/alloc.h grows arrays, common/procpath.h names files of /proc, and
# common/clock.h reads clocks. textinput.c's buffer has its own sizes.
found() {
    (cd "$ROOT" && grep -rnE "$1" --include='*.[ch]' common unwind patch inproc preload tracer fold render driver |
        grep -vE "^($2):")
}
is_str "$(found '([a-z>._*-]+) = \1 \? \1 \* 2 : ' 'fold/stacks/textinput\.c')" '' \
    'arrays grow by GROW'
is_str "$(found '"/proc/%' 'none')" '' 'names in /proc come from proc_path'
is_str "$(found '\bclock_gettime *\(' 'common/clock\.h')" '' 'clocks are read by clock_ns'

# Files of the tree, without files that a build left.
sources=$(find flame.c common unwind patch inproc preload tracer fold render driver -name '*.c' 2>/dev/null)
# The children of launch.c, openpage.c, freezewatch.c, livelook.c, liverecorder.c, spawn.c, fold_in_child.c, keptchild.c and heap_scan.c end themselves, next_libc.c stands in for a
# missing exit; tempfile.c's handler ends the first process of a container; calls.c and thread_kill.c know the call of others; tracer_process.c's is the tracing
# process, whose end is how it lets go, and control_signals.c ends that when it hangs.
# shellcheck disable=SC2086 # a list of names without blanks
is_str "$(grep -lE '\b(_exit|exit|quick_exit|abort) *\(|\bSYS_exit' $sources |
    grep -vxE 'common/alloc\.c|common/env/openpage\.c|common/files/tempfile\.c|common/lazyload/lazyload\.c|driver/run/launch\.c|driver/live/live(look|recorder)\.c|driver/off/freezewatch\.c|driver/doctor/(settings|trial)\.c|fold/fold_in_child\.c|driver/kept/keptchild\.c|tracer/(ptrace/spawn|ptrace/control_signals|offcpu/calls|offcpu/thread_kill|tracer_process)\.c|(preload/leak/heap_scan|preload/next_libc)\.c' | sort)" '' \
    'only alloc.c, lazyload.c, tempfile.c and processes that flame forked end outside of main'
# launch.c's, so that the caller sees how the command ended, and rundir.c's, when the directory
# of the run is removed, tempfile.c's, when unfinished output is, and screen.c's, when the terminal is
# as it was.
# shellcheck disable=SC2086
is_str "$(grep -lE '\braise *\(|\bkill *\( *(getpid|0)' $sources |
    grep -vxE 'common/files/tempfile\.c|common/signals/signal_outlive\.c|driver/run/launch\.c|driver/rundir/rundir\.c|render/view/screen\.c' | sort)" '' \
    'only launch.c, rundir.c, tempfile.c, screen.c and signal_outlive.c send a signal to the own process'

done_testing
