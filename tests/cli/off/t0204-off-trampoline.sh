#!/bin/bash
# Stacks through code made at run time that has no tables and keeps no frame pointer.
. "${0%/*}/../lib.sh"

compile_victim trampoline -fomit-frame-pointer
# A tracer that got no CPU meanwhile cannot tell a sleep from the stop behind it.
traced() { # [OPTION]
    run_expect_status 0 "a trampoline is traced $1" "$FLAME" off -q ${1:+"$1"} -o t.folded -- ./trampoline
    grep -q ';outer;.*;inner;usleep;.*nanosleep ' t.folded
}
for how in '' --no-in-process --no-filter; do
    again 5 traced "$how"
    file_has t.folded ';main;outer;\[[^;]*\];inner;usleep;.*nanosleep [0-9]+$' 'callers and callees of it'
done
done_testing
