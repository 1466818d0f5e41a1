#!/usr/bin/env bash
# A program run as an argument of the dynamic loader keeps its own name.
. "${0%/*}/../lib.sh"

compile_victim keeper
loader=$(readelf -lW keeper | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p')
run_expect_status 0 'flame mem of a program run by the loader succeeds' \
    "$FLAME" mem -o x.folded -- "$loader" --library-path . ./keeper keep:100:20
file_has x.folded '^keeper;_start;.*;main;[^ ]*keep_block(_\[i\])? 2000$' \
    'a program run by the loader has its name and its functions'
file_has err '^flame: keeper: allocated ' 'the summary names a program run by the loader'
file_lacks err 'not the file that was recorded' 'a program run by the loader has no missing file'
run_expect_status 0 'flame off of a program run by the loader succeeds' \
    "$FLAME" off -o x.folded -- "$loader" "$(command -v sleep)" 0.05
file_has x.folded '^sleep;.*;nanosleep [0-9]+$' 'flame off names the thread of a program run by the loader'
file_has err '^flame: sleep: traced for ' 'the summary of flame off names a program run by the loader'
ln -s keeper other
run_expect_status 0 'flame mem of a symbolic link succeeds' "$FLAME" mem -o x.folded -- ./other keep:100:20
file_has x.folded '^other;_start;.*;main;' "a program run by a symbolic link has the link's name"
done_testing
