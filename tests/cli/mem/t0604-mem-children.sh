#!/bin/bash
# Children of each kind are in the result, each byte once.
. "${0%/*}/../lib.sh"

compile_victim keeper

total() {
    what=$2 awk '!/^#/ && index($0, ENVIRON["what"]) { sum += $NF } END { print sum + 0 }' "$1"
}

run_expect_status 0 'flame mem of a program that forks succeeds' \
    "$FLAME" mem --view alloc -o x.folded -- ./keeper keep:100 fork keep:20
is_int "$(total x.folded keep_block)" 120 'a fork: parent and child count once each'
file_has err ' 2 processes' 'a fork: the summary counts both processes'
file_has err 'allocated .*120 bytes in 2 calls' 'a fork: the summary sums both processes'
file_has err 'live at the end .*120 bytes in 2 blocks' "a fork: the child's inherited block is not live twice"

run_expect_status 0 'flame mem of a program that executes another succeeds' \
    "$FLAME" mem -o x.folded -- ./keeper keep:100 exec keep:20
is_int "$(total x.folded keep_block)" 120 'an exec: both programs of the process count'

run_expect_status 0 'flame mem of a shell with children succeeds' "$FLAME" mem -o x.folded -- \
    sh -c './keeper keep:1001; ./keeper keep:1002 & wait'
is_int "$(total x.folded keep_block)" 2003 'grandchildren and background children count'
run_expect_status 0 'flame mem --no-follow succeeds' "$FLAME" mem --no-follow -o x.folded -- \
    sh -c './keeper keep:1001; true'
is_int "$(total x.folded keep_block)" 0 'flame mem --no-follow records no child'

run_expect_status 0 'flame mem -o t.flame of several programs succeeds' "$FLAME" mem -o t.flame -- \
    sh -c './keeper keep:1001; ./keeper keep:1002; true'
file_has err "^flame: 3 programs in t.flame; see them with 'flame render --view alloc -o x.svg t.flame'$" \
    'the summary names the file of several programs'
is_str "$(ls t.*)" t.flame 'several programs leave one file'
run_expect_status 0 'fold of several traces succeeds' "$FLAME" fold t.flame
is_int "$(total out keep_block)" 2003 'fold of several traces has all programs'
run_expect_status 0 'fold of one trace of several succeeds' "$FLAME" fold t.flame/2
is_int "$(total out keep_block)" 1001 'traces are numbered in the order in which the programs began'

printf '#!/bin/sh\nexec ./keeper keep:55 "$@"\n' >script && chmod +x script
run_expect_status 9 'a script by its #! line ends with its status' "$FLAME" mem -o x.folded -- ./script exit:9
is_int "$(total x.folded keep_block)" 55 'a script by its #! line: the program it executes counts'
printf './keeper keep:56\n' >bare && chmod +x bare
run_expect_status 0 'a script without a #! line succeeds' "$FLAME" mem -o x.folded -- ./bare
is_int "$(total x.folded keep_block)" 56 'a script without a #! line runs by the shell and counts'

done_testing
