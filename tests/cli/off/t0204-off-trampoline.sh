#!/bin/bash
# Stacks through code made at run time that has no tables and keeps no frame pointer.
. "${0%/*}/../lib.sh"

compile_victim trampoline -fomit-frame-pointer
for how in '' --no-inside --no-filter; do
    # A tracer that got no CPU meanwhile cannot tell a sleep from the stop behind it.
    for _ in 1 2 3 4 5; do
        # shellcheck disable=SC2086 # none or one
        run_expect_status 0 "a trampoline is traced $how" "$FLAME" off -q $how -o t.folded -- ./trampoline
        ! grep -q ';outer;.*;inner;usleep;.*nanosleep ' t.folded || break
    done
    file_has t.folded ';main;outer;\[[^;]*\];inner;usleep;.*nanosleep [0-9]+$' 'callers and callees of it'
done
done_testing
