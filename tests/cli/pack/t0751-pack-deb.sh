#!/bin/bash
# The Debian packages: together they have what make install installs, flame finds its libraries in Debian's
# folder for them, and its dependencies have the libraries that it loads late. The test needs `make deb`.
. "${0%/*}/../lib.sh"

version=$("$FLAME" --version | sed 's/flame //')
# Packages needed to build, as the Makefile has them, without those that every build of a package
# has, and with musl-gcc, which only packages always need.
is_str "$(sed -n '/^Build-Depends:/,/^[A-Z]/p' "$ROOT/packaging/debian/control" | grep -v '^Standards' |
    grep -oE '(^| )[a-z0-9.-]+(,|$)' |
    tr -d ' ,' | sort)" "$(sed -n '/^BUILD_PKGS/,/[^\\]$/p' "$ROOT/Makefile" | sed 's/^.*:=//; s/\\$//' | tr ' ' '\n' |
    grep -vE '^(gcc|libc6-dev|)$' | sort - <(echo musl-tools))" 'packages and the Makefile have the same build dependencies'

debs=$BUILD/deb
[ -e "$debs/flame_${version}_amd64.deb" ] || skip_all deb 'make deb has not been run'
[ ! "$FLAME" -nt "$debs/flame_${version}_amd64.deb" ] || diag 'the packages are older than the build'

is_str "$(cd "$debs" && echo ./*.deb)" "./flame-dbgsym_${version}_amd64.deb ./flame_${version}_amd64.deb \
./libflamemem-dbgsym_${version}_amd64.deb ./libflamemem-dev_${version}_all.deb ./libflamemem_${version}_amd64.deb" \
    'make deb makes five packages'
for package in flame libflamemem libflamemem-dev; do
    ok "$package is unpacked" dpkg-deb -x "$debs/$package"_*.deb root
done

eval "install_run() { ( cd '$ROOT' && ${FLAME_MAKE:-make --no-print-directory} \"\$@\" ); }"
run_expect_status 0 'make install' install_run install DESTDIR="$SCRATCH/dest" PREFIX=/usr LIBDIR=/usr/lib/x86_64-linux-gnu
# Debian has a changelog and a copyright of its own for each package.
is_str "$(cd root && find . -type f ! -name copyright ! -name changelog.gz ! -path '*/share/doc/*/examples/*' ! -path '*/lintian/*' |
    sed 's/\.gz$//' | sort)" \
    "$(cd dest && find . -type f ! -path '*/share/doc/flame/CHANGELOG.md' | sed 's|zsh/site-functions|zsh/vendor-completions|' | sort)" \
    'the packages have exactly the files of make install'
is_str "$(find root -newermt "$(date -d '+1 day' -Iseconds)")" '' \
    'no file of the packages has a time in the future'
is_int "$(grep -rlF "$ROOT" root | wc -l)" 0 'no file of the packages has the path of the build'

depends=$(dpkg-deb -f "$debs/flame_${version}_amd64.deb" Depends)
like "$depends" "libflamemem \\(= $version\\)" 'the package flame depends on its libraries, of the same version'
# Libraries that are loaded late are in no header of the file; each is in a package that flame
# depends on.
while read -r soname; do
    name=${soname%%.so*}
    case $soname in
    libm.so.*) name=libc ;;
    libz.so.*) name=zlib ;;
    libunwind-*) name=libunwind ;;
    esac
    like "$depends" "(^|, )$name-?[0-9]" "the package flame depends on that of $soname"
done < <(sed -n 's/^#define LATE_LIBRARIES(L)//p' "$BUILD/generated/latelibs.h" | grep -oE 'lib[^"]*')
# Later releases have a libdwarf with the same names and another interface.
if dpkg --compare-versions "$(dpkg-query -W -f='${Version}' libdwarf-dev)" lt 1:0; then
    like "$depends" '(^|, )libdwarf1 \(<< 1:0\)' 'the package flame excludes the later libdwarf'
else
    like "$depends" '(^|, )libdwarf1 \(>= 1:0' 'the package flame excludes the earlier libdwarf'
fi
like "$(dpkg-deb -f "$debs/libflamemem_${version}_amd64.deb" Depends)" 'libunwind8' \
    'the package libflamemem depends on libunwind'

run_expect_status 0 'the packaged flame runs' root/usr/bin/flame --version
run root/usr/bin/flame mem --shim
is_str "$(cat out)" "$SCRATCH/root/usr/lib/x86_64-linux-gnu/flame/libflamemem.so" \
    'the packaged flame finds its libraries'
run_expect_status 0 'the packaged flame mem succeeds' root/usr/bin/flame mem -o x.folded -- ls /
run_expect_status 0 'the packaged flame off succeeds' root/usr/bin/flame off -o y.folded -- sleep 0.05
file_has y.folded nanosleep 'the packaged flame off has the sleep'
file_lacks err 'stops alone' 'the packaged flame off logs calls in-process'
run_expect_status 0 'the packaged flame leak succeeds' root/usr/bin/flame leak -q -- true

# Programs of musl, by a recorder that needs no package of musl.
musl=usr/lib/x86_64-linux-gnu/flame/musl/libflamemem.so
ok 'the package libflamemem has the recorder of musl programs' test -e root/$musl
is_str "$(readelf -dW root/$musl | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" libc.so \
    'the packaged recorder of musl programs needs only musl'
unlike "$(dpkg-deb -f "$debs/libflamemem_${version}_amd64.deb" Depends)" musl \
    'the package libflamemem does not depend on musl'
echo '#include <stdlib.h>
static void *volatile p;
__attribute__((noinline)) static void takes_it(void) { p = malloc(4321); }
int main(void) { takes_it(); p = NULL; return 0; }' >leaky.c
ok 'leaky is built with musl' musl-gcc -g -O0 -o leaky leaky.c
like "$(readelf -lW leaky)" 'interpreter: .*/ld-musl-' 'leaky is a dynamic program of musl'
run_expect_status 0 'the packaged flame mem of a musl program succeeds' root/usr/bin/flame mem -o m.svg -- ./leaky
file_has m.svg '<title>takes_it .*4,321 bytes' 'the picture of a musl program has its function'
run_expect_status 23 'the packaged flame leak of a musl program ends with status 23' \
    root/usr/bin/flame leak -- sh -c './leaky; true'
file_has err 'leaky\.c:3' 'the packaged flame leak of a musl program that a GNU shell starts names the line'

# Symbols come with the packages for them.
symbols_of() { # PACKAGE FILE
    local id
    id=$(readelf -nW "root/$2" | sed -n 's/.*Build ID: //p')
    dpkg-deb -x "$debs/$1-dbgsym_${version}_amd64.deb" symbols
    test -n "$id" && test -s "symbols/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
}
ok 'flame-dbgsym has the symbols of this flame' symbols_of flame usr/bin/flame
ok 'libflamemem-dbgsym has the symbols of the recorder of musl programs' symbols_of libflamemem $musl

done_testing
