#!/usr/bin/env bash
# Functions that an allocator has besides malloc and its like, called by their own names: each
# block is recorded, once, and nobody finds such a function who would not without us.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# build FILE FLAG...
build() {
    local file=$1
    shift
    compile_victim byname -fno-builtin "$@"
    mv byname "$file"
}

# of VIEW: what was recorded in works().
of() {
    fview "$1" | grep ';works;' | awk '{ n += $NF } END { printf "%d\n", n }'
}

# counts NAME COMMAND...: what was recorded is what the program says that it did.
counts() {
    local name=$1
    shift
    run "$@"
    is_str "$status $(cat err)" '0 ' "$name: runs without us"
    want=$(cut -d ' ' -f 1-3 out)
    unlike "$want" '^0 ' "$name: it has the functions"
    cp out out.without
    record "" "$@"
    is_str "$status $(cat err)" '0 ' "$name: and with us"
    is_str "$(cat out)" "$(cat out.without)" "$name: does the same"
    is_str "$(of count) $(of alloc) $(of live)" "$want" "$name: calls, bytes, and what is live"
    is_int "$(fview live | awk '/;kept / { print $NF }')" 77 "$name: beside malloc's"
    unlike "$(fview count | grep ';works')" 'hook_|libflamemem' "$name: no frame of ours is in a stack"
}

# try NAME FORM FLAG...: a program that is linked to the allocator in this form.
try() {
    # shellcheck disable=SC2086 # flags
    build program $2 "${@:3}"
    counts "$1 $2" ./program
}

# An allocator's library that gets its blocks by malloc, and calls its own functions by name.
build libnamed.so -DPREFIXED -DLIBRARY -shared -fPIC
for form in '-pie -fPIE -Wl,-z,now' '-no-pie -fno-pie'; do
    try 'je_ over malloc' "$form" -DPREFIXED -L"$SCRATCH" -Wl,-rpath,"$SCRATCH" -l:libnamed.so
done

# Libraries of the distribution. Not every Debian has mimalloc.
for row in JE:libjemalloc.so.2 TC:libtcmalloc_minimal.so.4 \
    "MI:$(ldconfig -p | grep -oE 'libmimalloc\.so\.[0-9.]+ ' | head -1 | tr -d ' ')"; do
    lib=${row#*:}
    path=$(ldconfig -p | LIB=$lib awk '$1 == ENVIRON["LIB"] { print $NF; exit }')
    if [ -z "$path" ]; then
        skip "${lib:-libmimalloc.so}" "${lib:-mimalloc} is not installed"
        continue
    fi
    try "$lib" '-pie -fPIE -Wl,-z,lazy' "-D${row%:*}" "$path"
    [ "${row%:*}" != JE ] || jemalloc=$path
    [ "${row%:*}" != JE ] || try "$lib" '-pie -fPIE -fno-plt' -DJE "$path"
    [ "${row%:*}" != TC ] || tcmalloc=$path
done

# One that calls the program's new_handler, and is left by an exception.
if [ -n "${tcmalloc-}" ]; then
    compile_victim refused -fno-builtin "$tcmalloc"
    record "" ./refused
    is_str "$status $(cat out err)" '0 ' 'exceptions: the program is none the worse'
    is_int "$(fview count | grep -c 'handler')" 2 'exceptions: the handler allocates, and so does its throw'
    is_int "$(fview count | grep ';handler()' | awk '{ n += $NF } END { print n }')" 20 \
        'exceptions: each of their blocks is told of'
    is_int "$(fview count | awk '/;works\(\) / { print $NF }')" 3 'exceptions: and each after them'
    is_int "$(fview live | awk '/;works\(\) / { print $NF }')" 120 'exceptions: and what is live'
fi

# A program that asks.
build asks -DASKS -ldl
run ./asks
is_str "$(cat out)" '0 0 0 not there not there' 'without an allocator the program finds none'
record "" ./asks
is_str "$(cat out)" '0 0 0 not there not there' 'nor does it with us'
if [ -n "${jemalloc-}" ]; then
    BENEATH=$jemalloc record "" ./asks
    like "$(cat out)" '^[1-9].* there there$' 'one that is preloaded is found'
    is_str "$(of count) $(of alloc) $(of live)" "$(cut -d ' ' -f 1-3 out)" 'and its calls are recorded'
fi
done_testing
