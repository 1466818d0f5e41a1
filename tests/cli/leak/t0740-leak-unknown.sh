#!/bin/bash
# flame leak: where blocks or roots are unknown, no block is called a leak.
. "${0%/*}/../lib.sh"

compile_victim guest -fno-builtin -Wno-free-nonheap-object

run "$FLAME" leak -- ./guest
file_has err 'leak: heap scanned at the end of 1 process: guest [0-9]+$' \
    'a process whose blocks are all recorded is checked'
run "$FLAME" leak -- bash -c 'ulimit -f 300; exec ./guest'
file_has err 'size limit' 'a process over its file size limit says so'
file_has err 'leak: heap not scanned in 1 process, .* cannot be as a whole: guest [0-9]+$' \
    'a process whose blocks are not all recorded is not checked'
file_lacks err 'definite' 'a process whose blocks are not all recorded has no leaks'

done_testing
