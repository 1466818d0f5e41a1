#!/bin/bash
# tarball.sh O VERSION-ARCH GLIBC MAKE...: makes O/tarball/flame-VERSION-ARCH.tar.gz from the programs that the
# Makefile has linked in O/tarball/linked. It runs from the folder in which it is unpacked. No file in it may
# need a glibc newer than GLIBC or a library that is not glibc's; the script checks this before it makes the
# tarball. Its SHA-256 is beside it, as sha256sum -c reads it.
set -euo pipefail
export LC_ALL=C
cd "${0%/*}/.."
o=$1 version=$2 glibc=$3
cc=${CC:-gcc} # with its options
arch=${version##*-}
shift 3
name=flame-$version
out=$o/tarball
tree=$out/$name # made absolute below, as O may be relative

rm -rf "$tree" "$out"/flame-*.tar.gz*
mkdir -p "$tree"
tree=$(cd "$tree" && pwd -P)
"$@" O="$o" install DESTDIR="$tree" PREFIX= LIBDIR=/lib >/dev/null
install -m 755 "$out/linked/flame" "$out/linked/flame-static" "$tree/bin"
install -m 755 "$out"/linked/lib*.so "$tree/lib/flame/"
install -m 644 LICENSE CHANGELOG.md "$tree"
install -m 644 packaging/tarball/README "$tree"
# The drop-in is for machines that have the tree in /usr/local.
sed -i -e 's|=/lib/flame|=/usr/local/lib/flame|' -e 's| /share/flame| /usr/local/share/flame|' \
    "$tree/share/flame/flame-record.conf"

# Adds libunwind.so.8, with which the recorder walks stacks that its own rules do not cover, if this machine's
# needs no newer glibc. Otherwise recordings use the one of the machine they run on.
brought() {
    local file
    file=$($cc -print-file-name=libunwind.so.8)
    if [ -f "$file" ] && old_enough "$file"; then
        install -m 755 "$file" "$tree/lib/flame/libunwind.so.8"
    else
        echo "flame: libunwind.so.8 is not in it, as this machine's needs glibc $(newest "$file"): recordings" \
            'use the one of the machine they run on'
    fi
}

newest() {
    readelf --dyn-syms -W "$1" | grep -oE 'GLIBC_[0-9.]+' | sed 's/GLIBC_//' | sort -uV | tail -n 1
}

old_enough() {
    [ "$(printf '%s\n' "$(newest "$1")" "$glibc" | sort -V | tail -n 1)" = "$glibc" ]
}

# Prints the package of a file, its source and the version of that. A cross compiler's libraries are not
# installed, and have a list (scripts/cross.sh).
package_of() { # FILE
    local root package
    root=$($cc -print-sysroot)
    if [ -e "$root/.archives" ]; then
        awk -v file="${1##*/}" '$4 == file { print $1, $2, $3; exit }' "$root/.archives"
        return
    fi
    command -v dpkg-query >/dev/null || return 0
    # The package may list the path with or without /usr in front.
    package=$({ dpkg-query -S "$1" "${1#/usr}" 2>/dev/null || true; } | sed -n '1s/[:,].*//p')
    [ -z "$package" ] || dpkg-query -W -f='${Package} ${source:Package} ${source:Version}\n' "$package"
}

# Adds the licences and versions of linked libraries, if their packages are known.
licences() {
    local lib package source version doc=$tree/share/doc/flame root
    root=$($cc -print-sysroot)
    mkdir -p "$doc"
    for lib in seccomp "unwind-$arch" dwarf elf pcre2-8 protobuf-c lzma zstd z iberty; do
        package=
        read -r package source version < <(package_of "$(realpath "$($cc -print-file-name="lib$lib.a")")") || true
        [ -n "$package" ] || continue
        echo "$source $version" >>"$doc/linked"
        cp "${root%/}/usr/share/doc/$package/copyright" "$doc/copyright.${package%-dev}"
    done
}

strip=$($cc -print-prog-name=strip)
brought
[ -e "$tree/lib/flame/musl" ] ||
    echo 'flame: the recorder of musl programs is not in it, as there is no musl-gcc here (package musl-tools)'
[ ! -e "$tree/lib/flame/musl" ] || "$strip" --strip-debug "$tree"/lib/flame/musl/*.so
licences
for file in "$tree"/bin/flame* "$tree"/lib/flame/*.so*; do
    "$strip" --strip-debug "$file"
    old_enough "$file" || {
        echo "flame: $file needs glibc $(newest "$file"), which is newer than $glibc" >&2
        exit 1
    }
    others=$(readelf -dW "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' |
        grep -vE '^(lib(c|m|pthread|dl|rt)|ld-linux-(x86-64|aarch64)|\$ORIGIN/libflamegate|liblzma)\.so' || true)
    [ -z "$others" ] || {
        echo "flame: $file needs $others, which not every machine has" >&2
        exit 1
    }
done

# Each run makes the same bytes: files are sorted by name, have no names of users, and have the time of the
# newest change.
changed=$(git -c safe.directory="$PWD" log -1 --format=%cI 2>/dev/null) || changed=$(date -Iseconds -r CHANGELOG.md)
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="$changed" \
    -C "$out" -cf - "$name" | gzip -n9 >"$out/$name.tar.gz"
rm -rf "$tree"
(cd "$out" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$out/$name.tar.gz: $(stat -c %s "$out/$name.tar.gz") bytes, for glibc $glibc and later"
