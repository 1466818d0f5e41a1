#!/usr/bin/env bash
# libunwind is loaded when a stack needs it or may soon need it, at a moment that is
# safe for that, and never else.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim lateness -pthread -rdynamic -ldl
mv lateness late
compile_victim lateness -shared -fPIC -DOPENED
mv lateness late.so

loaded() { # whether `late` finds libunwind loaded: OPTIONS WHAT WANTED MESSAGE
    record "$1" ./late "$2" "$SCRATCH/late.so"
    is_str "$status $(cat out)$(cat err)" "0 $3" "$4"
}
below_rbx() { # calls of allocate() by the stacks that have the frame and main() in them
    fview count | awk '/;main;(.*;)?by_rbx;(.*;)?allocate / { n += $NF } END { print n + 0 }'
}

# A machine without libunwind: here the loader finds a file that is none.
mkdir none
: >none/libunwind.so.8
hidden() {
    local how said='libflamemem: libunwind.so.8 cannot be loaded; install libunwind8; the program runs on, some stacks are cut short'
    export LD_LIBRARY_PATH=$SCRATCH/none

    loaded "" plain 00 "no libunwind: one thread is recorded"
    loaded sample=1000000 plain 00 "no libunwind, and it would be loaded at once: the program is recorded"
    for how in '' sample=1; do
        record "$how" ./late walk
        is_str "$(cat out err)" "00$said" "no libunwind, options '$how': the stack that needs it reports that, once"
        ok "no libunwind, options '$how': the stack that needs it is cut short, and counts" \
            grep -q 'allocate [0-9]*$' <(fview count)
    done
    record "" ./late pthread
    is_str "$(cat out err)" "000$said" 'no libunwind: a stack of a second thread reports it'
    record referee=1 ./late plain
    like "$(cat err)" 'libunwind.so.8 cannot be loaded.*nothing is recorded' 'no libunwind: referee=1 refuses'
    unset LD_LIBRARY_PATH
}

# A C library before 2.32 does not tell when a second thread begins.
if ! nm -D "$(ldd late | awk '$1 == "libc.so.6" { print $3 }')" | grep -q __libc_single_threaded; then
    loaded "" plain 11 "an older C library: libunwind is loaded at once"
    hidden
    done_testing
fi

loaded "" plain 00 "one thread whose stacks have rules: libunwind is never loaded"
is_int "$(fview count | awk '/;allocate / { n += $NF } END { print n }')" 1 \
    'the call of one thread whose stacks have rules is recorded'
loaded "" walk 01 "a frame without a rule loads libunwind"
is_int "$(below_rbx)" 1 'the stack of a frame without a rule is complete'
loaded "" pthread 011 "libunwind is loaded before a second thread runs"
is_int "$(fview count | grep -c ';by_rbx;allocate ')" 1 'the stacks of a second thread are complete'
loaded "" thrd 011 "libunwind is loaded before a second thread of C11 runs"
loaded "" fork 010 "a forked child loads libunwind itself"
is_int "$(fview count t.flame* | awk '/;main;.*by_rbx;allocate / { n += $NF } END { print n }')" 1 \
    'the stack of a forked child is complete'
loaded "" handler 001 "libunwind is loaded after a signal handler, not within"
is_int "$(below_rbx)" 1 'the stack after a signal handler is complete'
is_int "$(fview count | awk '/by_rbx;allocate / { n += $NF } END { print n }')" 2 \
    'the stack within a signal handler is cut short and counts'
loaded "" loader 0011 "libunwind is loaded when the loader's lock is free, not in the loader's calls"
is_int "$(below_rbx)" 1 'the stack of a constructor is complete'
loaded "" sandbox 01 "libunwind is loaded before the program enters a sandbox"

# Where the last safe moment cannot be noticed, libunwind is loaded at once.
loaded referee=1 plain 11 "libunwind is loaded at once for referee=1"
loaded sample=1000000 plain 11 "libunwind is loaded at once for sample="
build_counter
BENEATH=$SCRATCH/libcount.so loaded "" plain 11 "libunwind is loaded at once with another allocator"
echo 'unsigned la_version(unsigned v) { return v; }' >auditor.c
ok 'the auditor is built' "${CC:-gcc}" -shared -fPIC -o auditor.so auditor.c
LD_AUDIT=$SCRATCH/auditor.so loaded "" plain 11 "libunwind is loaded at once under an auditor"
hidden
done_testing
