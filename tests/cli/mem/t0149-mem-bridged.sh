#!/bin/bash
# Stacks below code made at run time that has no tables and keeps no frame pointer.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim bridged -fomit-frame-pointer
record '' ./bridged
is_int "$status" 0 'memory below made code is recorded'
fview alloc | sed 's/^.*;main;/main;/; s/ld-[^;]*//' >got
for line in 'first 1000' 'second 10000' 'third 100000'; do
    file_has got "^main;${line% *};call;\[[^;]*\];inner ${line#* }$" "${line% *} calls through it"
done
is_int "$(grep -c 'inner' got)" 3 'and nothing else does: no stack ends there'
# Rules for code that comes and goes without end are given for a while only; a stack is then short.
FLAME_TEST_TURNS=200 record '' ./bridged
is_int "$status" 0 'code that comes and goes'
is_int "$(fview alloc | awk '/;inner / { sum += $NF } END { printf "%.0f", sum }')" 311000 'all is counted'
done_testing
