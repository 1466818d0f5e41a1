#!/usr/bin/env bash
# Debug information that flame does not read, or not completely, is reported.
. "${0%/*}/../lib.sh"

compile_victim keeper
fold_of() { # PROGRAM
    run_expect_status 0 "flame mem of $1 succeeds" \
        "$FLAME" mem -q --no-names -o "$1.flame" -- "./$1" keep:100:20
    run_expect_status 0 "fold --lines of $1 succeeds" "$FLAME" fold --lines --view alloc "$1.flame"
}

fold_of keeper
file_has out ';main keeper.c:[0-9]+;' 'plain debug information has lines'
file_lacks err 'debug information|\.dwo' 'plain debug information is not reported'

if objcopy --compress-debug-sections=zstd keeper packed 2>err; then
    fold_of packed
    if grep -q ';main keeper.c:[0-9]*;' out; then
        file_lacks err 'zstd' 'zstd debug information is read and not reported'
    else
        file_has err '^flame: .*/packed: its debug information is compressed by zstd, .*: no lines, no inlined functions; ' \
            'zstd debug information that is not read is reported'
        "$FLAME" doctor ./packed >out 2>&1
        file_has out 'names .*packed has names, and lines that are compressed by zstd' \
            'flame doctor reports zstd debug information'
    fi
    objcopy --decompress-debug-sections packed keeper
    fold_of keeper
    file_has out ';main keeper.c:[0-9]+;' 'zstd debug information has lines after decompression'
else
    skip 'debug information compressed by zstd' "$(head -n 1 err)"
fi

for version in 4 5; do
    compile_victim keeper "-gdwarf-$version" -gsplit-dwarf
    mv keeper split
    fold_of split
    file_has out ';main keeper.c:[0-9]+;' "split DWARF $version has lines"
    file_has err '^flame: .*/split: its functions are in \.dwo files, which are not read: lines, but no inlined' \
        "split DWARF $version: missing inlined functions are reported"
done
"$FLAME" doctor ./split >out 2>&1
file_has out 'names .*split has names and lines; inlined functions are in \.dwo files' \
    'flame doctor reports split DWARF'
"$FLAME" fold --no-inline --view alloc split.flame >out 2>err
file_lacks err 'dwo' 'fold --no-inline of split DWARF reports nothing'
done_testing
