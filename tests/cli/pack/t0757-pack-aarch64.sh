#!/bin/bash
# The tarball for aarch64 of `make cross-aarch64`: no file needs a glibc newer than 2.17 or a library
# that is not glibc's, and its flame and its recorder work under qemu-user.
. "${0%/*}/../lib.sh"

sysroot=$BUILD/sysroot-aarch64
version=$("$FLAME" --version | sed 's/flame //')
tarball=$BUILD/aarch64/tarball/flame-$version-aarch64.tar.gz
if [ ! -e "$tarball" ] || ! command -v qemu-aarch64 >/dev/null; then
    skip_all cross 'make cross-aarch64 has built nothing here'
fi

ok 'the tarball has its SHA-256 beside it' sh -c 'cd "$1" && sha256sum --quiet -c "$2.sha256"' - \
    "${tarball%/*}" "${tarball##*/}"
ok 'the tarball is unpacked' tar xzf "$tarball"
tree=$SCRATCH/flame-$version-aarch64
for file in "$tree"/bin/flame "$tree"/lib/flame/*.so*; do
    name=${file#"$tree"/}
    like "$(readelf -hW "$file")" 'Machine: +AArch64' "$name is for aarch64"
    newest=$(readelf --dyn-syms -W "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    is_str "$newest" GLIBC_2.17 "$name: glibc 2.17 is enough"
    is_str "$(readelf -dW "$file" | sed -n 's/.*(\(NEEDED\|RPATH\|RUNPATH\)).*\[\(.*\)\]/\2/p' |
        grep -vE '^(libc|libm|libdl|libpthread|liblzma|ld-linux-aarch64)\.so\.[0-9]$|^\$ORIGIN$')" \
        '' "$name needs only glibc"
    is_int "$(grep -cF "$ROOT" "$file")" 0 "$name has no path of the build"
done
musl=$tree/lib/flame/musl/libflamemem.so
like "$(readelf -hW "$musl")" 'Machine: +AArch64' 'the recorder of musl programs is for aarch64'
is_str "$(readelf -dW "$musl" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p')" libc.so \
    'the recorder of musl programs needs only musl'
is_int "$(grep -cF "$ROOT" "$musl")" 0 'the recorder of musl programs has no path of the build'
is_str "$(readelf -dW "$tree/bin/flame-static" | grep NEEDED)" '' 'flame-static needs no library'
run_expect_status 0 'flame-static runs' qemu-aarch64 "$tree/bin/flame-static" --version
is_int "$(wc -l <"$tree/share/doc/flame/linked")" 10 'the tarball has the licences of linked libraries'
ok 'the tarball has completions' test -s "$tree/share/bash-completion/completions/flame"

# sums: of the second words, for each first word.
sums() {
    awk '{ n[$1] += $2 } END { for (f in n) if (n[f]) printf "%s %.0f\n", f, n[f] }' | sort
}
arm() { qemu-aarch64 -L "$sysroot" "$@"; }
run_expect_status 0 "the tarball's flame runs" arm "$tree/bin/flame" --version
is_str "$(cat out)" "flame $version" "the tarball's flame is this version"
echo '#include <stdlib.h>
static void *volatile p;
int main(void) { p = malloc(4321); return 0; }' >keeps.c
ok 'keeps is built' aarch64-linux-gnu-gcc "--sysroot=$sysroot" -g -O0 -o keeps keeps.c
run arm -E LD_PRELOAD="$tree/lib/flame/libflamemem.so" -E FLAMEMEM_OPTIONS="out=$SCRATCH/t.flame" ./keeps
is_int "$status" 0 "the tarball's recorder: the program ends as before"
run_expect_status 0 "the tarball's flame reads the trace" arm "$tree/bin/flame" fold --lines --view live t.flame
file_has out ';main keeps\.c:3 4321$' "the tarball's flame has functions and lines"
run_expect_status 0 "the tarball's flame draws it" arm "$tree/bin/flame" render -o x.html t.flame
for out in pb.gz svg speedscope.json; do
    run_expect_status 0 "the tarball's flame render -o x.$out succeeds" \
        arm "$tree/bin/flame" render -o "x.$out" t.flame
done
run_expect_status 0 "the tarball's flame top --grep succeeds with its own library" \
    arm "$tree/bin/flame" top --grep 'mai.' t.flame

# Programs that use musl: their own counts, to the byte.
CC=$sysroot/musl-gcc compile_victim eachcall -pthread
run arm -E LD_PRELOAD="$musl" -E FLAMEMEM_OPTIONS="out=$SCRATCH/each.flame" ./eachcall
is_int "$status" 0 'a musl program ends as before'
is_str "$("$FLAME" fold --view alloc each.flame 2>err |
    sed -n 's/.*;\(by_[a-z_]*\) \([0-9]*\)$/\1 \2/p' | sums)" "$(sums <out)" 'a musl program is recorded to the byte'
done_testing
