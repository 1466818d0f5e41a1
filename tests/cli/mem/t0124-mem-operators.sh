#!/usr/bin/env bash
# C++'s operators new and delete, from an allocator or the program itself: each
# call is recorded once, and reaches the function that it would reach unrecorded.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# compile_victim into another file: build FILE VICTIM FLAG...
build() {
    local file=$1 victim=$2
    shift 2
    compile_victim "$victim" -std=c++17 "$@"
    [ "$file" = "$victim" ] || mv "$victim" "$file"
}

# of FUNCTION VIEW: sum of the rows below a function. Inlined frames would be ten times the work.
of() {
    fview "$2" --no-inline "$SCRATCH/t.flame" | grep -E ";$1(\(\))?[ ;]" | awk '{ n += $NF } END { printf "%d\n", n }'
}

# counts NAME [TIMES [BYTES]]: each call of the victim was recorded once (TIMES times). BYTES: 33,
# which the allocator allocates for itself, in one call; "more": in each call.
counts() {
    local n=${2:-1} own=${3:-0} calls=0
    is_str "$status $(sort -u out) $(cat err)" "0 well " "operators of $1: the program behaves as unrecorded"
    [ "$own" != 33 ] || calls=1
    is_int "$(of allocates count)" $((8000 * n + calls)) "operators of $1: each call counts"
    if [ "$own" = more ]; then
        ok "operators of $1: the bytes count" test "$(of allocates alloc)" -gt $((416000 * n))
    else
        is_str "$(of allocates alloc) $(of allocates live) $(of refused live)" \
            "$((416000 * n + own)) $((208000 * n + own)) $((231 * n))" \
            "operators of $1: bytes allocated, live and of refused calls"
    fi
    ok "operators of $1: refused calls do not count" test "$(of refused count)" -ge $((4 * n))
    is_int "$(of strings live)" 0 "operators of $1: strings are freed"
}

build plain operators
for shape in 1 2 3 4 5; do
    build "libpool$shape.so" pool -DSHAPE=$shape -shared -fPIC -Wl,-soname,libpool$shape.so
done
record "" ./plain
counts "libstdc++"
strings=$(of strings count)
ok 'strings allocate in libstdc++' test "$strings" -ge 3000

for shape in 1 2 3 4 5; do
    own=0
    [ $shape -ne 3 ] || own='more'
    [ $shape -ne 5 ] || own=33
    BENEATH=$SCRATCH/libpool$shape.so record "" ./plain
    counts "preloaded, shape $shape" 1 $own
    is_int "$(of strings count)" "$strings" "operators preloaded, shape $shape: libstdc++ calls them"
    build linked operators -L"$SCRATCH" -Wl,-rpath,"$SCRATCH" -Wl,--no-as-needed -lpool$shape
    record referee=1 ./linked
    counts "linked, shape $shape" 1 $own
    is_int "$(of strings count)" "$strings" "operators linked, shape $shape: libstdc++ calls them"
done
BENEATH=$SCRATCH/libpool1.so record "" ./plain
unlike "$(fview count | grep ';allocates')" 'operator new|_slow|libflamemem' \
    'stacks of operators have no frame of libflamemem.so'
# Some 800 samples of 416,000 bytes: the standard error is below 4 %, the bounds are seven of them away.
BENEATH=$SCRATCH/libpool1.so record sample=512 ./plain
is_str "$status $(cat out err)" "0 well" 'sample=512 of operators: the program behaves as unrecorded'
bytes=$(of allocates alloc)
ok "sample=512 of operators estimates the bytes ($bytes)" test "$bytes" -gt 300000 -a "$bytes" -lt 540000
BENEATH=$SCRATCH/libpool2.so record sample=512 ./plain
bytes=$(of allocates alloc)
ok "sample=512 of operators that call malloc estimates the bytes once ($bytes)" \
    test "$bytes" -gt 300000 -a "$bytes" -lt 540000

# Operators in the program, which call malloc. Other modules cannot call operators that it does not export.
build own operators "$ROOT/tests/victims/mem/pool.cc" -DSHAPE=4
record "" ./own
counts "the program itself"
is_int "$(of strings count)" "$strings" 'operators of the program itself: libstdc++ does not call them'

# Libraries that a C program opens, each with its own dependencies.
compile_victim opens -ldl
build with.so operators -DPLUGIN -shared -fPIC -L"$SCRATCH" -Wl,-rpath,"$SCRATCH" -Wl,--no-as-needed -lpool1
build without.so operators -DPLUGIN -shared -fPIC
build static.so operators -DPLUGIN -shared -fPIC -static-libstdc++ -static-libgcc
build both.so operators "$ROOT/tests/victims/mem/pool.cc" -DSHAPE=1 -DPLUGIN -DNO_STRINGS -shared -fPIC
build some.so operators -DPLUGIN -DNO_STRINGS -shared -fPIC -L"$SCRATCH" -Wl,-rpath,"$SCRATCH" -Wl,--no-as-needed -lpool1
for plugins in ./with.so ./without.so ./static.so ./both.so "./some.so ./static.so ./both.so" \
    "./both.so - ./static.so - ./both.so"; do
    # shellcheck disable=SC2086 # a list
    run ./opens $plugins
    is_str "$status $(sort -u out) $(cat err)" "0 well " \
        "operators of $plugins: the program without flame ends with status 0"
    # shellcheck disable=SC2086
    record "" ./opens $plugins
    counts "$plugins" "$(wc -w <<<"${plugins// -/}")"
done

# The allocators themselves. Not every Debian has mimalloc.
mimalloc=$(ldconfig -p | grep -oE 'libmimalloc\.so\.[0-9]+ ' | head -1)
for lib in libjemalloc.so.2 libtcmalloc_minimal.so.4 ${mimalloc:-libmimalloc.so}; do
    if ! ldconfig -p | grep -q "[[:space:]]$lib "; then
        skip "$lib" "$lib is not installed"
        continue
    fi
    refuses=
    [[ $lib != libmimalloc* ]] || refuses=no
    # shellcheck disable=SC2086 # one argument or none
    BENEATH=$lib record "" ./plain $refuses
    is_str "$status $(cat out err)" "0 well" "operators of $lib: the program behaves as unrecorded"
    is_str "$(of allocates count) $(of allocates alloc) $(of allocates live)" "8000 416000 208000" \
        "operators of $lib: calls, bytes allocated and bytes live"
    [ -n "$refuses" ] || is_int "$(of refused live)" 231 "operators of $lib: refused calls do not count"
    is_str "$(of strings count) $(of strings live)" "$strings 0" "operators of $lib: libstdc++ calls them"
    BENEATH=$lib record "" ./own
    counts "$lib and the program itself"
done
done_testing
