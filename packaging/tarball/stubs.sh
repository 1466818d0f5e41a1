#!/bin/bash
# stubs.sh CC VERSION DIR ARCH: makes stubs of glibc in DIR. Programs linked with them run with glibc VERSION
# (2.17) and later, though this machine's glibc is newer.
#
# Problem: a program that is linked with a new glibc requires the newest version of each function it
# calls (pthread_create@GLIBC_2.34). An older glibc has the function, but not that version.
#
# Algorithm: the stubs have the names of glibc's libraries and no code. They define this glibc's symbols, each
# with its newest version that is not above VERSION, so a program linked with them calls
# pthread_create@GLIBC_2.2.5. Before 2.34 that function is in libpthread.so.0, and dlopen is in libdl.so.2, so
# the program is linked with stubs of these, too; later glibcs have them as empty files. Symbols that exist
# only in newer versions are left out, so linking fails if a program calls one. packaging/tarball/compat.c has
# those that objects compiled with this machine's headers need. Some symbols that start with __ are no
# functions of old headers: crt1_ARCH.S calls the one that start-up code needs (__libc_start_main).
#
# Rejected: building only on a system as old as VERSION. It is the better check, but takes root, a network and
# minutes. packaging/tarball.sh works the same way on such a system.
set -euo pipefail
export LC_ALL=C
cc=$1 newest=$2 dir=$3 arch=$4
case $arch in
x86_64) loader=ld-linux-x86-64 loader_soname=$loader.so.2 ;;
aarch64) loader=ld-linux-aarch64 loader_soname=$loader.so.1 ;;
*)
    echo "flame: no tarball for $arch: stubs.sh does not know its loader" >&2
    exit 2
    ;;
esac
mkdir -p "$dir"

# Prints "name version kind size address" for each symbol of a library, with its newest version that is old
# enough. Leaves out symbols without a version for new programs: pthread_atfork exists only for old programs,
# and new ones contain it.
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

# Makes the stub of a library. A variable with two names (environ, __environ) stays one variable: the linker
# makes one copy of it in the program, under all its names.
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

for soname in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 "$loader_soname"; do
    stub "$soname" "$($cc -print-file-name="$soname")" "${soname%%.so*}.so"
done
# Like the real libc.so, this is a linker script: it adds libc's few static functions, and the loader if needed.
mv "$dir/libc.so" "$dir/libc-stub.so"
echo "GROUP ( libc-stub.so libc_nonshared.a AS_NEEDED ( $loader.so ) )" >"$dir/libc.so"

here=${0%/*}
$cc -c -o "$dir/crt1.o" "$here/crt1_$arch.S"
$cc -O2 -Wall -Wextra -Werror -fPIC -fno-lto -c -o "$dir/compat.o" "$here/compat.c"
rm -f "$dir/libcompat.a"
ar rcs "$dir/libcompat.a" "$dir/compat.o"
