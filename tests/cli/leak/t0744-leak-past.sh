#!/usr/bin/env bash
# flame leak: libraries whose malloc or free is not the one that is recorded.
. "${0%/*}/../lib.sh"

compile_victim keepsfar -ldl
compile_victim keepsfar_lib -shared -fPIC -DFREES
mv keepsfar_lib frees.so
compile_victim keepsfar_lib -shared -fPIC
mv keepsfar_lib keeps.so

run "$FLAME" leak -- ./keepsfar ./keeps.so with
file_has err 'leak: heap scanned at the end of 1 process: keepsfar [0-9]+$' 'a library like any other'
file_has err ' 3,333 bytes in 1 block leaked' 'what is lost is, and nothing that it keeps'

run "$FLAME" leak -- ./keepsfar ./keeps.so ns
file_has err 'leak: heap not scanned in 1 process, of which dlmopen has loaded libraries .*: keepsfar [0-9]+$' \
    'one with a C library of its own: the process is not judged'
file_lacks err 'definite' 'and no block of it is called a leak'

run "$FLAME" leak -- ./keepsfar ./keeps.so deep
file_has err "leak: heap not scanned in 1 process, of which a library's malloc is bound past .*: keepsfar [0-9]+\$" \
    'one that is bound to the C library: neither'
file_lacks err 'definite' 'and no block of it is called a leak'

run "$FLAME" leak -- ./keepsfar ./frees.so deep
file_has err 'leak: heap scanned at the end of 1 process: keepsfar [0-9]+$' 'one that only frees so'
file_has err ' 3,333 bytes in 1 block leaked' 'what it may have freed itself is no leak'
done_testing
