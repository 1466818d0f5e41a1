#!/bin/bash
# libflamemem.so exports what preload/libflamemem.map names, no more and no less.
. "${0%/*}/lib.sh"
map=$ROOT/preload/libflamemem.map

nm -D --defined-only "$SHIM" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort -u >exported
sed -n '/global:/,/local:/p' "$map" | sed 's|/\*.*\*/||; s/global://; s/local:.*//' |
    tr -d ' \t' | tr ';' '\n' | grep . | sort -u >wanted
ok "the map names something" test -s wanted
is_str "$(comm -23 exported wanted)" '' 'nothing is exported that the map does not name'
is_str "$(comm -13 exported wanted)" '' 'everything the map names is exported'
for name in malloc calloc realloc free posix_memalign malloc_usable_size; do
    ok "$name is interposed" grep -qx "$name" exported
done

needed=$(readelf -dW "$SHIM" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')
unlike "$needed" 'asan|ubsan|stdc\+\+' 'the shim needs no sanitizer and no C++ library'
like "$(readelf -dW "$SHIM")" 'BIND_NOW|NOW' 'the shim is bound when it is loaded'

done_testing
