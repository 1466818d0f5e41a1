#!/bin/bash
# Whole programs whose C library and loader are patched by a preloaded library, with stubs in the
# library's own text: they behave as before, and their calls are counted.
# shellcheck disable=SC2317 # functions are called through run
. "${0%/*}/../lib.sh"

build_library() {
    # shellcheck disable=SC2086 # flags are words
    "${CC:-gcc}" -std=gnu11 -I"$ROOT" -O2 -g -fPIC -fvisibility=hidden -shared -o patchall.so \
        "$ROOT"/tests/victims/patch/patchall.c "$ROOT"/patch/*.c "$ROOT"/patch/find/{code,find,isa*}.c \
        "$ROOT"/common/{kernel,procmaps,strbuf,alloc,error,procpath}.c -ldl
}
run_expect_status 0 'patchall.so is built' build_library
[ "$status" -eq 0 ] || done_testing

export PATCHALL=$SCRATCH/seen
patched() {
    rm -f "$PATCHALL"
    LD_PRELOAD=$SCRATCH/patchall.so "$@"
}
count_of() {
    CALL=$1 awk '$1 == ENVIRON["CALL"] { s += $2 } END { print s + 0 }' "$PATCHALL"
}

run_expect_status 0 'ls with patched calls succeeds' patched ls /
file_has "$PATCHALL" '^homes [1-9][0-9]+ others 0 failures 0$' \
    'all stubs are in the library, which all unwinders know'

seq 1 200000 >numbers
run_expect_status 0 'sort with patched calls succeeds' patched sort -rn numbers -o sorted
is_str "$(sha256sum <sorted)" "$(sort -rn numbers | sha256sum)" 'sort with patched calls has the same output'
ok 'the writes of sort are counted' test "$(count_of 1)" -gt 10

run_expect_status 3 'a shell with children and patched calls ends with its status' \
    patched bash -c 'a=$(echo x | cat | wc -c); trap : USR1; (kill -USR1 $$) & wait; [ "$a" -eq 2 ] && exit 3'
ok 'the waits of the shell are counted' test "$(count_of 61)" -gt 0

run_expect_status 0 'threads, children and signals of Python with patched calls succeed' \
    patched python3 "$ROOT/tests/victims/patch/many.py"
file_has out '^fine$' 'Python with patched calls behaves as before'
ok 'the lock waits of Python are counted' test "$(count_of 202)" -gt 5

"${CXX:-g++}" -O1 -g -pthread -o destroyed "$ROOT/tests/victims/patch/destroyed.cc"
run_expect_status 0 'threads cancelled in patched calls: the program succeeds' patched ./destroyed
file_has out '^all destroyed$' 'threads cancelled in patched calls run all destructors'
ok 'the reads of cancelled threads are counted' test "$(count_of 0)" -ge 50

done_testing
