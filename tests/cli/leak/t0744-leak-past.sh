#!/usr/bin/env bash
# flame leak: libraries whose malloc or free is not the one that is recorded.
. "${0%/*}/../lib.sh"

compile_victim keepsfar -ldl
compile_victim keepsfar_lib -shared -fPIC -DFREES
mv keepsfar_lib frees.so
compile_victim keepsfar_lib -shared -fPIC
mv keepsfar_lib keeps.so

run "$FLAME" leak -- ./keepsfar ./keeps.so with
file_has err 'leak: heap scanned at the end of 1 process: keepsfar [0-9]+$' \
    'a process with an ordinary library is checked'
file_has err ' 3,333 bytes in 1 block leaked' 'a process with an ordinary library: its leak is found'

run "$FLAME" leak -- ./keepsfar ./keeps.so ns
file_has err 'leak: heap not scanned in 1 process, of which dlmopen has loaded libraries .*: keepsfar [0-9]+$' \
    'a process with a dlmopen library is not checked'
file_lacks err 'definite' 'a process with a dlmopen library has no leaks'

run "$FLAME" leak -- ./keepsfar ./keeps.so deep
file_has err "leak: heap not scanned in 1 process, of which a library's malloc is bound past .*: keepsfar [0-9]+\$" \
    'a process with a malloc bound past the recorder is not checked'
file_lacks err 'definite' 'a process with a malloc bound past the recorder has no leaks'

run "$FLAME" leak -- ./keepsfar ./frees.so deep
file_has err 'leak: heap scanned at the end of 1 process: keepsfar [0-9]+$' \
    'a process with only a free bound past the recorder is checked'
file_has err ' 3,333 bytes in 1 block leaked' 'a block that a free past the recorder may have freed is no leak'
done_testing
