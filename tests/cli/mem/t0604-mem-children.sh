#!/bin/bash
# Children of every kind are in the result, each byte once.
. "${0%/*}/../lib.sh"

compile_victim keeper

total() {
    what=$2 awk '!/^#/ && index($0, ENVIRON["what"]) { sum += $NF } END { print sum + 0 }' "$1"
}

run_expect_status 0 'a fork' "$FLAME" mem --view alloc -o x.folded -- ./keeper keep:100 fork keep:20
is_int "$(total x.folded keep_block)" 120 'parent and child, each once'
file_has err ' 2 processes' 'the summary counts both'
file_has err 'allocated .*120 bytes in 2 calls' 'and sums them'
file_has err 'live at the end .*120 bytes in 2 blocks' "the child's copy is not live twice"

run_expect_status 0 'an exec' "$FLAME" mem -o x.folded -- ./keeper keep:100 exec keep:20
is_int "$(total x.folded keep_block)" 120 'both programs of one process'

run_expect_status 0 'a shell with children' "$FLAME" mem -o x.folded -- \
    sh -c './keeper keep:1001; ./keeper keep:1002 & wait'
is_int "$(total x.folded keep_block)" 2003 'grandchildren, in the background too'
run_expect_status 0 'and with --no-follow' "$FLAME" mem --no-follow -o x.folded -- \
    sh -c './keeper keep:1001; true'
is_int "$(total x.folded keep_block)" 0 'no child is recorded'

run_expect_status 0 'traces of several processes' "$FLAME" mem -o t.flame -- \
    sh -c './keeper keep:1001; ./keeper keep:1002; true'
file_has err '3 programs, a trace each: t.flame to t.3.flame' 'are named'
run_expect_status 0 'and fold together' "$FLAME" fold t.flame t.2.flame t.3.flame
is_int "$(total out keep_block)" 2003 'to all of them'
run_expect_status 0 'or alone, oldest first' "$FLAME" fold t.2.flame
is_int "$(total out keep_block)" 1001 'in the order they were started'

printf '#!/bin/sh\nexec ./keeper keep:55 "$@"\n' >script && chmod +x script
run_expect_status 9 'a script by its #! line' "$FLAME" mem -o x.folded -- ./script exit:9
is_int "$(total x.folded keep_block)" 55 'and what it executes'
printf './keeper keep:56\n' >bare && chmod +x bare
run_expect_status 0 'a script without one' "$FLAME" mem -o x.folded -- ./bare
is_int "$(total x.folded keep_block)" 56 'runs by the shell'

done_testing
