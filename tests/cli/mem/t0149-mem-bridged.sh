#!/bin/bash
# Stacks through code generated at run time, without unwind tables and without a frame pointer.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim bridged -fomit-frame-pointer
record '' ./bridged
is_int "$status" 0 'bridged ends with status 0'
fview alloc | sed 's/^.*;main;/main;/; s/ld-[^;]*//' >got
for line in 'first 1000' 'second 10000' 'third 100000'; do
    file_has got "^main;${line% *};call;\[[^;]*\];inner ${line#* }$" \
        "${line% *} reaches inner through generated code"
done
is_int "$(grep -c 'inner' got)" 3 'no stack of inner ends in generated code'
# Rules for code that changes all the time are made for a while only; later stacks are short.
FLAME_TEST_TURNS=200 record '' ./bridged
is_int "$status" 0 'bridged with changing code ends with status 0'
is_int "$(fview alloc | awk '/;inner / { sum += $NF } END { printf "%.0f", sum }')" 311000 \
    'bridged with changing code: all bytes count'
done_testing
