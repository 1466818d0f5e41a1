#!/bin/bash
# stubs.sh CC VERSION DIR: makes in DIR what programs are linked with to run with glibc VERSION (2.31)
# and later, though this machine's is newer.
#
# Problem: a program that is linked with a new glibc wants the newest version of each function it
# calls (pthread_create@GLIBC_2.34), which an older glibc does not have, though it has the function.
#
# Algorithm: libraries of the same names are made that have no code, but this glibc's names, each with its
# newest version that is not above VERSION. To link with them gives pthread_create@GLIBC_2.2.5. Before
# 2.34 that one is in libpthread.so.0, and dlopen in libdl.so.2: the program is linked with stubs of these, too,
# which later ones have as empty files. Names that are only in newer versions are not there, so that
# linking fails if one is called; packaging/tarball/compat.c has those that objects of this machine's
# headers cannot do without. Names that start with __ are not all functions of old headers: those that had
# their place elsewhere (__libc_start_main) are in crt1.S.
#
# Rejected: to build on a system as old as VERSION only. It is the better check, but takes root, a network and
# minutes; packaging/tarball.sh does the same there as here.
set -euo pipefail
export LC_ALL=C
cc=$1 newest=$2 dir=$3
mkdir -p "$dir"

# name version kind size address, of each name of a library: its newest version that is old enough. Names without
# a version for new programs (pthread_atfork, which every program has in itself) are only there for old ones.
names() { # FILE
    readelf --dyn-syms -W "$1" | sed 's/ \[[^]]*\]//' | awk -v newest="$newest" '
        function number(v,  part) {
            split(v, part, ".")
            return part[1] * 1000000 + part[2] * 1000 + part[3]
        }
        $7 != "UND" && $7 != "ABS" && ($5 == "GLOBAL" || $5 == "WEAK") && match($8, /@+GLIBC_[0-9.]+$/) {
            name = substr($8, 1, RSTART - 1)
            version = substr($8, RSTART)
            if (version ~ /^@@/)
                linked[name] = 1
            sub(/@+GLIBC_/, "", version)
            if (number(version) > number(newest) || number(version) < number(best[name]))
                next
            best[name] = version
            kind[name] = $4 == "OBJECT" ? $4 : "FUNC"
            size[name] = $3
            address[name] = $2
        }
        END { for (name in best) if (linked[name]) print name, best[name], kind[name], size[name], address[name] }' |
        sort -k5,5 -k1,1
}

# Makes the stub of a library. Variables that are one under two names (environ, __environ) stay one: the
# linker makes a copy of a variable in the program, under all names that it has.
stub() { # SONAME FILE OUT
    names "$2" >"$dir/names"
    {
        awk '{
            if ($3 == "FUNC")
                print ".text\n.balign 16"
            else
                print ".bss\n.balign 32"
            if ($3 == "FUNC" || $5 != last) {
                printf "place_%d:\n", NR
                place = NR
                print $3 == "FUNC" ? ".byte 0" : ".zero " ($4 > 0 ? $4 : 8)
                last = $3 == "FUNC" ? "" : $5
            }
            printf ".globl stub_%d\n.set stub_%d, place_%d\n.type stub_%d, @%s\n.size stub_%d, %d\n", NR, NR, \
                place, NR, $3 == "OBJECT" ? "object" : "function", NR, $4
            printf ".symver stub_%d, %s@@GLIBC_%s\n", NR, $1, $2
        }' "$dir/names"
        echo '.section .note.GNU-stack,"",@progbits'
    } >"$dir/stub.s"
    awk '!seen[$2]++ { printf "GLIBC_%s { };\n", $2 } END { print "STUB { local: stub_*; };" }' "$dir/names" >"$dir/stub.map"
    $cc -nostdlib -shared -o "$dir/$3" "$dir/stub.s" -Wl,-soname,"$1" -Wl,--version-script="$dir/stub.map"
    rm "$dir/stub.s" "$dir/stub.map" "$dir/names"
}

for soname in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 ld-linux-x86-64.so.2; do
    stub "$soname" "$($cc -print-file-name=$soname)" "${soname%%.so*}.so"
done
# As the real one, it is a script: libc's few functions that are linked in, and the loader where it is called.
mv "$dir/libc.so" "$dir/libc-stub.so"
echo "GROUP ( libc-stub.so libc_nonshared.a AS_NEEDED ( ld-linux-x86-64.so ) )" >"$dir/libc.so"

here=${0%/*}
$cc -c -o "$dir/crt1.o" "$here/crt1.S"
$cc -O2 -Wall -Wextra -Werror -fPIC -fno-lto -c -o "$dir/compat.o" "$here/compat.c"
rm -f "$dir/libcompat.a"
ar rcs "$dir/libcompat.a" "$dir/compat.o"
