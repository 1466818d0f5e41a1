#!/bin/bash
# The tarball runs from any directory, with the C library alone. The test needs a tarball of
# `make tarball`.
. "${0%/*}/../lib.sh"

version=$("$FLAME" --version | sed 's/flame //')
tarball=$BUILD/tarball/flame-$version-x86_64.tar.gz
[ -e "$tarball" ] || skip_all tarball 'make tarball has not been run'
[ ! "$FLAME" -nt "$tarball" ] || diag 'the tarball is older than the build'

odd="$SCRATCH/an odd place, ünd \$HOME"
mkdir "$odd"
ok 'the tarball is unpacked' sh -c 'cd "$1" && tar xzf "$2"' - "$odd" "$tarball"
is_str "$(ls "$odd")" "flame-$version-x86_64" 'the tarball has one folder'
tree="$odd/flame-$version-x86_64"
# shellcheck disable=SC2317 # called by run
clean() { env -i PATH=/usr/bin:/bin HOME="$SCRATCH" "$@"; }

# Each file: the glibc and the libraries that it needs, and no path of the build.
for file in "$tree"/bin/flame "$tree"/lib/flame/*.so*; do
    name=${file#"$tree"/}
    newest=$(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    is_str "$(printf '%s\n' "$newest" GLIBC_2.31 | sort -V | tail -n 1)" GLIBC_2.31 \
        "$name: ${newest:-no glibc} is not newer than GLIBC_2.31"
    is_str "$(readelf -dW "$file" | sed -n 's/.*(\(NEEDED\|RPATH\|RUNPATH\)).*\[\(.*\)\]/\2/p' |
        grep -vE '^(libc|libm|libdl|libpthread|liblzma|ld-linux-x86-64)\.so\.[0-9]$|^\$ORIGIN(/libflamegate.so)?$')" \
        '' "$name needs only glibc"
    is_int "$(grep -cF "$ROOT" "$file")" 0 "$name has no path of the build"
done
ok 'the tarball has the licences of linked libraries' test -s "$tree/share/doc/flame/linked"
is_str "$(cd "$tree" && find . -type f -newermt "$(date -d '+1 day' -Iseconds)")" '' \
    'no file of the tarball has a time in the future'

# The commands, with nothing of the caller's.
cd "$tree" || exit 1
run_expect_status 0 "the tarball's flame runs" clean bin/flame --version
is_str "$(cat "$SCRATCH/out")" "flame $version" "the tarball's flame is this version"
run clean bin/flame mem --shim
is_str "$(cat "$SCRATCH/out")" "$tree/lib/flame/libflamemem.so" "the tarball's flame finds its libraries"
run_expect_status 0 "the tarball's flame mem succeeds" clean bin/flame mem -o x.svg -- ls /
file_has x.svg '<svg' "the tarball's flame mem writes a picture"
run_expect_status 0 "the tarball's flame off succeeds" clean bin/flame off -o x.folded -- sleep 0.1
file_has x.folded 'nanosleep' "the tarball's flame off has the sleep"
file_lacks "$SCRATCH/err" 'cannot be preloaded' \
    "the tarball's flame off preloads libflamewait.so from an odd path"
run_expect_status 0 "the tarball's flame run succeeds" clean bin/flame run -o x.flame -- sh -c 'echo a b | sort'
run_expect_status 0 "the tarball's flame render succeeds" clean bin/flame render -o x.html x.flame
run_expect_status 0 "the tarball's flame top --grep succeeds with its own library" \
    clean bin/flame top --grep 'mai.|sort' x.flame
run_expect_status 0 "the tarball's flame render -o x.pb.gz succeeds" clean bin/flame render -o x.pb.gz x.flame
echo '#include <stdlib.h>
static void *volatile p;
int main(void) { p = malloc(4321); p = NULL; return 0; }' >leaky.c
ok 'leaky is built' "${CC:-gcc}" -g -O0 -o leaky leaky.c
run_expect_status 23 "the tarball's flame leak ends with status 23" clean bin/flame leak -- ./leaky
file_has "$SCRATCH/err" 'leaky\.c:3' "the tarball's flame leak names the line"
sleep 100 &
sleeper=$!
run_expect_status 0 "the tarball's flame mem -p succeeds" clean bin/flame mem -p "$sleeper" -d 0.1 -o y.folded
kill "$sleeper"
wait "$sleeper" 2>/dev/null

# Elsewhere, and by a link.
cd "$SCRATCH" || exit 1
mv "$tree" moved
ln -s moved/bin/flame flame
run clean ./flame mem --shim
is_str "$(cat out)" "$SCRATCH/moved/lib/flame/libflamemem.so" \
    'a moved tarball, called by a link, finds its libraries'
rm moved/lib/flame/libflamemem.so
run_expect_status 2 'a tarball without libflamemem.so: flame mem ends with status 2' \
    clean ./flame mem -o z.svg -- true
like "$(cat err)" '^flame: .*libflamemem\.so: not beside .*/bin/flame nor in \.\./lib/flame' \
    'a tarball without libflamemem.so: flame mem says what is missing'

done_testing
