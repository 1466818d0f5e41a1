#!/bin/bash
# Whole programs whose C library and loader are patched by a preloaded library, with stubs in the
# library's own text: they behave as before, and their calls are seen.
# shellcheck disable=SC2317 # functions are called through run
. "${0%/*}/../lib.sh"

build_library() {
    # shellcheck disable=SC2086 # flags are words
    "${CC:-gcc}" -std=gnu11 -I"$ROOT" -O2 -g -fPIC -fvisibility=hidden -shared -o patchall.so \
        "$ROOT"/tests/victims/patch/patchall.c "$ROOT"/patch/*.c "$ROOT"/patch/find/{code,find,isa*}.c \
        "$ROOT"/common/{kernel,procmaps,strbuf,alloc,error,procpath}.c -ldl
}
run_expect_status 0 'the library is built' build_library
[ "$status" -eq 0 ] || done_testing

export PATCHALL=$SCRATCH/seen
patched() {
    rm -f "$PATCHALL"
    LD_PRELOAD=$SCRATCH/patchall.so "$@"
}
count_of() {
    CALL=$1 awk '$1 == ENVIRON["CALL"] { s += $2 } END { print s + 0 }' "$PATCHALL"
}

run_expect_status 0 'a short program' patched ls /
file_has "$PATCHALL" '^homes [1-9][0-9]+ others 0 failures 0$' \
    'stubs lie in the library, which all unwinders know'

seq 1 200000 >numbers
run_expect_status 0 'sort' patched sort -rn numbers -o sorted
is_str "$(sha256sum <sorted)" "$(sort -rn numbers | sha256sum)" 'its output is the same'
ok 'its writes were seen' test "$(count_of 1)" -gt 10

run_expect_status 3 'a shell with children' patched bash -c 'a=$(echo x | cat | wc -c); trap : USR1; (kill -USR1 $$) & wait; [ "$a" -eq 2 ] && exit 3'
ok 'its waits were seen' test "$(count_of 61)" -gt 0

run_expect_status 0 'threads, children and signals of Python' patched python3 "$ROOT/tests/victims/patch/many.py"
file_has out '^fine$' 'all is as it was'
ok 'its waits for locks were seen' test "$(count_of 202)" -gt 5

"${CXX:-g++}" -O1 -g -pthread -o destroyed "$ROOT/tests/victims/patch/destroyed.cc"
run_expect_status 0 'threads cancelled in calls' patched ./destroyed
file_has out '^all destroyed$' 'ran all destructors, through the stubs'
ok 'their reads were seen' test "$(count_of 0)" -ge 50

done_testing
