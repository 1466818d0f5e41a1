#!/usr/bin/env bash
# A program that is run by naming the dynamic loader first is named as itself.
. "${0%/*}/../lib.sh"

compile_victim keeper
loader=$(readelf -lW keeper | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p')
run_expect_status 0 'flame mem' "$FLAME" mem -o x.folded -- "$loader" --library-path . ./keeper keep:100:20
file_has x.folded '^keeper;_start;.*;main;[^ ]*keep_block(_\[i\])? 2000$' 'its process and functions have their names'
file_has err '^flame: keeper: allocated ' 'the summary says so'
file_lacks err 'not the file that was recorded' 'no file is missed'
run_expect_status 0 'flame off' "$FLAME" off -o x.folded -- "$loader" "$(command -v sleep)" 0.05
file_has x.folded '^sleep;.*;nanosleep [0-9]+$' 'names the thread'
file_has err '^flame: sleep: traced for ' 'and the process'
ln -s keeper other
run_expect_status 0 'a link' "$FLAME" mem -o x.folded -- ./other keep:100:20
file_has x.folded '^other;_start;.*;main;' 'is named as it was called'
done_testing
