#!/bin/sh
# demo.sh BUILD-DIR: records jq on some 10 MB of JSON and leaves the picture in
# BUILD-DIR/demo. Called by `make demo`, which has built what it needs.
set -eu

build=$1
dir=$build/demo
mkdir -p "$dir"

# The input has equal bytes on every machine.
if [ ! -s "$dir/input.json" ]; then
    awk 'BEGIN {
        print "["
        for (i = 0; i < 72000; i++) {
            seed = (seed * 1103515245 + 12345) % 2147483648
            printf "{\"id\":%d,\"name\":\"item-%08d\",\"group\":\"g%02d\",\"price\":%d.%02d," \
                   "\"tags\":[\"t%d\",\"t%d\",\"t%d\"],\"size\":{\"w\":%d,\"h\":%d}," \
                   "\"note\":\"%s\"}%s\n",
                   i, seed % 100000000, seed % 40, seed % 900, i % 100, i % 7, i % 11, i % 13,
                   seed % 1000, i % 1000,
                   substr("the quick brown fox jumps over the lazy dog", 1 + i % 20, 20),
                   i < 71999 ? "," : ""
        }
        print "]"
    }' >"$dir/input.json.part"
    mv "$dir/input.json.part" "$dir/input.json"
fi

filter='group_by(.group) | map({group: .[0].group, items: length, total: (map(.price) | add)})'
echo "recording: jq '$filter' input.json ($(wc -c <"$dir/input.json") bytes)"
"$build/flame" mem -o "$dir/jq.svg" --view peak -- \
    jq "$filter" "$dir/input.json" >"$dir/output.json"
echo "the picture: $(cd "$dir" && pwd)/jq.svg"
