#!/bin/bash
# flame leak: where blocks or roots are not known, no verdict is made of what they might lead to.
. "${0%/*}/../lib.sh"

compile_victim guest -fno-builtin -Wno-free-nonheap-object

run "$FLAME" leak -- ./guest
file_has err 'leak: heap scanned at the end of 1 process: guest [0-9]+$' 'a process whose blocks are known'
run "$FLAME" leak -- bash -c 'ulimit -f 300; exec ./guest'
file_has err 'size limit' 'one that has no room to record them'
file_has err 'leak: heap not scanned in 1 process, .* cannot be as a whole: guest [0-9]+$' \
    'is not judged'
file_lacks err 'definite' 'as nobody knows what the others lead to'

done_testing
