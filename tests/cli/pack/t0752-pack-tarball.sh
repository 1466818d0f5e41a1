#!/bin/bash
# The tarball runs from wherever it is unpacked, with nothing but the C library. It is looked at when
# `make tarball` has made one.
. "${0%/*}/../lib.sh"

version=$("$FLAME" --version | sed 's/flame //')
tarball=$BUILD/tarball/flame-$version-x86_64.tar.gz
[ -e "$tarball" ] || skip_all tarball 'make tarball has not been run'
[ ! "$FLAME" -nt "$tarball" ] || diag 'the tarball is older than the build'

odd="$SCRATCH/an odd place, ünd \$HOME"
mkdir "$odd"
ok 'it is unpacked' sh -c 'cd "$1" && tar xzf "$2"' - "$odd" "$tarball"
is_str "$(ls "$odd")" "flame-$version-x86_64" 'into one folder'
tree="$odd/flame-$version-x86_64"
# shellcheck disable=SC2317 # called by run
clean() { env -i PATH=/usr/bin:/bin HOME="$SCRATCH" "$@"; }

# Every file: which glibc it needs, which libraries, and of whose machine it speaks.
for file in "$tree"/bin/flame "$tree"/lib/flame/*.so*; do
    name=${file#"$tree"/}
    newest=$(objdump -T "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    is_str "$(printf '%s\n' "$newest" GLIBC_2.31 | sort -V | tail -n 1)" GLIBC_2.31 "$name: ${newest:-no glibc} will do"
    is_str "$(readelf -dW "$file" | sed -n 's/.*(\(NEEDED\|RPATH\|RUNPATH\)).*\[\(.*\)\]/\2/p' |
        grep -vE '^(libc|libm|libdl|libpthread|liblzma|ld-linux-x86-64)\.so\.[0-9]$|^\$ORIGIN(/libflamegate.so)?$')" \
        '' "$name: nothing but glibc is needed"
    is_int "$(grep -cF "$ROOT" "$file")" 0 "$name: where it was built is not in it"
done
ok 'licences of what is linked in are there' test -s "$tree/share/doc/flame/linked"
is_str "$(cd "$tree" && find . -type f -newermt "$(date -d '+1 day' -Iseconds)")" '' 'no file is from the future'

# The commands, with nothing of the caller's.
cd "$tree" || exit 1
run_expect_status 0 'flame runs' clean bin/flame --version
is_str "$(cat "$SCRATCH/out")" "flame $version" 'and is this version'
run clean bin/flame mem --shim
is_str "$(cat "$SCRATCH/out")" "$tree/lib/flame/libflamemem.so" 'and finds its libraries'
run_expect_status 0 'mem' clean bin/flame mem -o x.svg -- ls /
file_has x.svg '<svg' 'leaves a picture'
run_expect_status 0 'off' clean bin/flame off -o x.folded -- sleep 0.1
file_has x.folded 'nanosleep' 'sees the sleep'
file_lacks "$SCRATCH/err" 'cannot be preloaded' 'with the library of waits, whatever its place is called'
run_expect_status 0 'run' clean bin/flame run -o x.flame -- sh -c 'echo a b | sort'
run_expect_status 0 'render, from the trace' clean bin/flame render -o x.html x.flame
run_expect_status 0 'a regular expression, from its own library' clean bin/flame top --grep 'mai.|sort' x.flame
run_expect_status 0 "pprof's format" clean bin/flame render -o x.pb.gz x.flame
echo '#include <stdlib.h>
static void *volatile p;
int main(void) { p = malloc(4321); p = NULL; return 0; }' >leaky.c
ok 'a program that leaks' "${CC:-gcc}" -g -O0 -o leaky leaky.c
run_expect_status 23 'leak' clean bin/flame leak -- ./leaky
file_has "$SCRATCH/err" 'leaky\.c:3' 'names its line'
sleep 100 &
sleeper=$!
run_expect_status 0 'mem -p' clean bin/flame mem -p "$sleeper" -d 0.1 -o y.folded
kill "$sleeper"
wait "$sleeper" 2>/dev/null

# Elsewhere, and by a link.
cd "$SCRATCH" || exit 1
mv "$tree" moved
ln -s moved/bin/flame flame
run clean ./flame mem --shim
is_str "$(cat out)" "$SCRATCH/moved/lib/flame/libflamemem.so" 'it can be moved, and called by a link'
rm moved/lib/flame/libflamemem.so
run_expect_status 2 'without its library' clean ./flame mem -o z.svg -- true
like "$(cat err)" '^flame: .*libflamemem\.so: not beside .*/bin/flame nor in \.\./lib/flame' 'it says what is missing'

done_testing
