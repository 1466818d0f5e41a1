#!/usr/bin/env bash
# Functions of an allocator besides malloc and its like, called by their own names: each
# block is recorded once, and no program finds such a function that it would not find unrecorded.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

# build FILE FLAG...
build() {
    local file=$1
    shift
    compile_victim byname -fno-builtin "$@"
    mv byname "$file"
}

# of VIEW: sum of the rows below works().
of() {
    fview "$1" | grep ';works;' | awk '{ n += $NF } END { printf "%d\n", n }'
}

# counts NAME COMMAND...: the trace has the counts that the program prints.
counts() {
    local name=$1
    shift
    run "$@"
    is_str "$status $(cat err)" '0 ' "$name: the program without flame ends with status 0"
    want=$(cut -d ' ' -f 1-3 out)
    unlike "$want" '^0 ' "$name: the program finds the functions"
    cp out out.without
    record "" "$@"
    is_str "$status $(cat err)" '0 ' "$name: the program under flame ends with status 0"
    is_str "$(cat out)" "$(cat out.without)" "$name: the program under flame has its output as unrecorded"
    is_str "$(of count) $(of alloc) $(of live)" "$want" "$name: calls, bytes allocated and bytes live"
    is_int "$(fview live | awk '/;kept / { print $NF }')" 77 "$name: a block of malloc counts too"
    unlike "$(fview count | grep ';works')" 'hook_|libflamemem' "$name: stacks have no frame of libflamemem.so"
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

# An allocator that calls the program's new_handler, and is left by an exception.
if [ -n "${tcmalloc-}" ]; then
    compile_victim refused -fno-builtin "$tcmalloc"
    record "" ./refused
    is_str "$status $(cat out err)" '0 ' 'an exception of new_handler: the program behaves as unrecorded'
    is_int "$(fview count | grep -c 'handler')" 2 \
        'an exception of new_handler: the handler and its throw have their stacks'
    is_int "$(fview count | grep ';handler()' | awk '{ n += $NF } END { print n }')" 20 \
        "an exception of new_handler: each of the handler's blocks counts"
    is_int "$(fview count | awk '/;works\(\) / { print $NF }')" 3 \
        'an exception of new_handler: each later block counts'
    is_int "$(fview live | awk '/;works\(\) / { print $NF }')" 120 \
        'an exception of new_handler: live bytes of later blocks'
fi

# A program that looks for the functions with dlsym.
build asks -DASKS -ldl
run ./asks
is_str "$(cat out)" '0 0 0 not there not there' 'dlsym without an allocator or flame finds no function of one'
record "" ./asks
is_str "$(cat out)" '0 0 0 not there not there' \
    'dlsym under flame without an allocator finds no function of one'
if [ -n "${jemalloc-}" ]; then
    BENEATH=$jemalloc record "" ./asks
    like "$(cat out)" '^[1-9].* there there$' 'dlsym under flame finds the functions of a preloaded allocator'
    is_str "$(of count) $(of alloc) $(of live)" "$(cut -d ' ' -f 1-3 out)" \
        'calls of functions found by dlsym are recorded'
fi
done_testing
