#!/usr/bin/env bash
# libunwind is loaded where a stack needs it or could come to need it, at a moment that is
# safe for that, and nowhere else.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim lateness -pthread -rdynamic -ldl
mv lateness late
compile_victim lateness -shared -fPIC -DOPENED
mv lateness late.so

loaded() { # what `late` says of it, recorded: OPTIONS WHAT WANTED MESSAGE
    record "$1" ./late "$2" "$SCRATCH/late.so"
    is_str "$status $(cat out)$(cat err)" "0 $3" "$4"
}
below_rbx() { # calls of allocate() by the stacks that have the frame and main() in them
    fview count | awk '/;main;(.*;)?by_rbx;(.*;)?allocate / { n += $NF } END { print n + 0 }'
}

# A C library before 2.32 does not say when there comes to be a second thread.
if ! nm -D "$(ldd late | awk '$1 == "libc.so.6" { print $3 }')" | grep -q __libc_single_threaded; then
    loaded "" plain 11 "an older C library: at once"
    done_testing
fi

loaded "" plain 00 "one thread whose stacks have rules: never"
is_int "$(fview count | awk '/;allocate / { n += $NF } END { print n }')" 1 "it is recorded"
loaded "" walk 01 "a frame without a rule: there"
is_int "$(below_rbx)" 1 "and its stack is whole"
loaded "" pthread 011 "a second thread: before it runs"
is_int "$(fview count | grep -c ';by_rbx;allocate ')" 1 "and its stacks are whole"
loaded "" thrd 011 "one of C11: the same"
loaded "" fork 010 "a forked child: it has its own"
is_int "$(fview count t.flame* | awk '/;main;.*by_rbx;allocate / { n += $NF } END { print n }')" 1 \
    "and its stack is whole"
loaded "" handler 001 "a signal handler: not there, but after it"
is_int "$(below_rbx)" 1 "the second stack is whole"
is_int "$(fview count | awk '/by_rbx;allocate / { n += $NF } END { print n }')" 2 \
    "the first is cut short and counted"
loaded "" loader 0011 "the loader's own calls: not there, but where its lock is ours"
is_int "$(below_rbx)" 1 "and a constructor's stack is whole"
loaded "" sandbox 01 "a sandbox: before it is entered"

# Where nobody would notice that the last moment has come, at once.
loaded referee=1 plain 11 "the referee asks about each stack"
loaded sample=1000000 plain 11 "blocks are sampled"
build_counter
BENEATH=$SCRATCH/libcount.so loaded "" plain 11 "another allocator may make threads"
echo 'unsigned la_version(unsigned v) { return v; }' >auditor.c
ok "an auditor" "${CC:-gcc}" -shared -fPIC -o auditor.so auditor.c
LD_AUDIT=$SCRATCH/auditor.so loaded "" plain 11 "an auditor would be told of it"
done_testing
