#!/usr/bin/env bash
# Debug information that is there and is not read, or not as a whole, is named.
. "${0%/*}/../lib.sh"

compile_victim keeper
fold_of() { # PROGRAM
    run_expect_status 0 "$1 is recorded" "$FLAME" mem -q --no-names -o "$1.flame" -- "./$1" keep:100:20
    run_expect_status 0 'and folded' "$FLAME" fold --lines --view alloc "$1.flame"
}

fold_of keeper
file_has out ';main keeper.c:[0-9]+;' 'plain debug information has lines'
file_lacks err 'debug information|\.dwo' 'and no word is needed'

if objcopy --compress-debug-sections=zstd keeper packed 2>err; then
    fold_of packed
    if grep -q ';main keeper.c:[0-9]*;' out; then
        file_lacks err 'zstd' 'a libdwarf that reads zstd'
    else
        file_has err '^flame: .*/packed: its debug information is compressed by zstd, .*: no lines, no inlined functions; ' \
            'compressed by zstd: what is missing is said, and why'
        "$FLAME" doctor ./packed >out 2>&1
        file_has out 'names .*packed has names, and lines that are compressed by zstd' 'by flame doctor, too'
    fi
    objcopy --decompress-debug-sections packed keeper
    fold_of keeper
    file_has out ';main keeper.c:[0-9]+;' 'the advice helps'
else
    skip 'debug information compressed by zstd' "$(head -n 1 err)"
fi

for version in 4 5; do
    compile_victim keeper "-gdwarf-$version" -gsplit-dwarf
    mv keeper split
    fold_of split
    file_has out ';main keeper.c:[0-9]+;' "split, DWARF $version: lines are there"
    file_has err '^flame: .*/split: its functions are in \.dwo files, which are not read: lines, but no inlined' \
        'and what is missing is said'
done
"$FLAME" doctor ./split >out 2>&1
file_has out 'names .*split has names and lines; inlined functions are in \.dwo files' 'flame doctor says it, too'
"$FLAME" fold --no-inline --view alloc split.flame >out 2>err
file_lacks err 'dwo' 'nothing is missing to whom neither is wanted'
done_testing
