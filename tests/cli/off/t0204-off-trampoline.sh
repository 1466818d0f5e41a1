#!/bin/bash
# Stacks through code generated at run time, without unwind tables and without a frame pointer.
. "${0%/*}/../lib.sh"

compile_victim trampoline -fomit-frame-pointer
# A tracer that gets no CPU meanwhile cannot distinguish a sleep from the stop after it.
traced() { # [OPTION]
    run_expect_status 0 "flame off $1 traces a program with a trampoline" \
        "$FLAME" off -q ${1:+"$1"} -o t.folded -- ./trampoline
    grep -q ';outer;.*;inner;usleep;.*nanosleep ' t.folded
}
for how in '' --no-in-process --no-filter; do
    again 5 traced "$how"
    file_has t.folded ';main;outer;\[[^;]*\];inner;usleep;.*nanosleep [0-9]+$' \
        "flame off $how: the stack has the callers and callees of the trampoline"
done
done_testing
