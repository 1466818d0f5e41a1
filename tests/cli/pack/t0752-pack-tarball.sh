#!/bin/bash
# The tarball runs from any directory, with the C library alone. The test needs a tarball of
# `make tarball`.
. "${0%/*}/../lib.sh"

version=$("$FLAME" --version | sed 's/flame //')
tarball=$BUILD/tarball/flame-$version-x86_64.tar.gz
[ -e "$tarball" ] || skip_all tarball 'make tarball has not been run'
[ ! "$FLAME" -nt "$tarball" ] || diag 'the tarball is older than the build'

ok 'the tarball has its SHA-256 beside it' sh -c 'cd "$1" && sha256sum --quiet -c "$2.sha256"' - \
    "${tarball%/*}" "${tarball##*/}"
odd="$SCRATCH/an odd place, ünd \$HOME"
mkdir "$odd"
ok 'the tarball is unpacked' sh -c 'cd "$1" && tar xzf "$2"' - "$odd" "$tarball"
is_str "$(ls "$odd")" "flame-$version-x86_64" 'the tarball has one folder'
tree="$odd/flame-$version-x86_64"
# shellcheck disable=SC2317 # called by run
clean() { env -i PATH=/usr/bin:/bin HOME="$SCRATCH" "$@"; }

# Each file: the glibc and the libraries that it needs, and no path of the build.
for file in "$tree"/bin/flame* "$tree"/lib/flame/*.so*; do
    name=${file#"$tree"/}
    newest=$(readelf --dyn-syms -W "$file" | grep -oE 'GLIBC_[0-9.]+' | sort -uV | tail -n 1)
    is_str "$(printf '%s\n' "$newest" GLIBC_2.17 | sort -V | tail -n 1)" GLIBC_2.17 \
        "$name: ${newest:-no glibc} is not newer than GLIBC_2.17"
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

# Programs of musl, by a recorder that has no path of the build.
if [ -e "$BUILD/musl/libflamemem.so" ]; then
    ok 'the tarball has the recorder of musl programs' test -e "$tree/lib/flame/musl/libflamemem.so"
    is_int "$(grep -cF "$ROOT" "$tree/lib/flame/musl/libflamemem.so")" 0 \
        'the recorder of musl programs has no path of the build'
    ok 'leaky is built with musl' musl-gcc -g -O0 -o leaky.musl leaky.c
    run_expect_status 23 "the tarball's flame leak of a musl program ends with status 23" \
        clean bin/flame leak -- ./leaky.musl
    file_has "$SCRATCH/err" 'leaky\.c:3' "the tarball's flame leak of a musl program names the line"
else
    skip musl 'musl-gcc is not here'
fi

# README's line for another machine, and the recording read where the program is not.
line=$(sed -n 's/^    curl -fL "$URL\/\(flame-[^"]*\)" | /\1 /p' "$ROOT/README.md")
is_str "${line%% *}" "${tarball##*/}" 'README names this tarball'
mkdir "$SCRATCH/other" && cp leaky "$SCRATCH/other/app" && cd "$SCRATCH/other" || exit 1
run_expect_status 0 "README's line records a program" clean sh -c "cat '$tarball' | ${line#* }"
rm app
run clean flame-*/bin/flame fold --lines app.flame
file_has "$SCRATCH/out" ';main leaky\.c:3 4321$' "a recording of README's line has its names without the program"
rm -r flame-*
cd "$tree" || exit 1

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

# A root with glibc and one program alone. The tarball brings all else that it needs.
mkdir -p root/proc root/dev root/tmp root/lib64
ln -s lib64 root/lib # loaders differ in where they search
for soname in libc.so.6 libm.so.6 libpthread.so.0 libdl.so.2 librt.so.1 ld-linux-x86-64.so.2; do
    file=$("${CC:-gcc}" -print-file-name="$soname")
    [ ! -e "$file" ] || cp -L "$file" root/lib64/
done
tar xzf "$tarball" -C root
mv "root/flame-$version-x86_64" root/flame
cp moved/leaky root/
cat >nap.c <<'END'
#include <unistd.h>
int main(void) { usleep(100000); return 0; }
END
"${CC:-gcc}" -g -O0 -o root/nap nap.c
# shellcheck disable=SC2016 # for the shell inside
in_root() {
    unshare -Urmpf sh -c 'mount -t proc proc root/proc && mount --rbind /dev root/dev && exec chroot root "$@"' - "$@"
}
if in_root /flame/bin/flame --version >out 2>err; then
    run_expect_status 0 'in a root with glibc alone flame mem succeeds' \
        in_root /flame/bin/flame mem -o /tmp/m.flame -- /leaky
    run_expect_status 0 'in a root with glibc alone flame fold succeeds' \
        in_root /flame/bin/flame fold --lines /tmp/m.flame
    file_has out ';main leaky\.c:3 4321$' 'in a root with glibc alone flame mem has the line'
    run_expect_status 23 'in a root with glibc alone flame leak ends with status 23' \
        in_root /flame/bin/flame leak -- /leaky
    run_expect_status 0 'in a root with glibc alone flame off succeeds' \
        in_root /flame/bin/flame off -o /tmp/o.folded -- /nap
    file_has root/tmp/o.folded 'nanosleep' 'in a root with glibc alone flame off has the sleep'
    file_lacks err 'stops alone' 'in a root with glibc alone flame off logs calls in-process'
    run_expect_status 0 'in a root with glibc alone flame run succeeds' \
        in_root /flame/bin/flame run -o /tmp/r.html -- /leaky
    for out in pb.gz svg speedscope.json; do
        run_expect_status 0 "in a root with glibc alone flame render -o x.$out succeeds" \
            in_root /flame/bin/flame render -o "/tmp/x.$out" /tmp/m.flame
    done
    # A library that the tarball does not bring is named.
    run in_root /flame/bin/flame render -o /tmp/x.png /tmp/m.flame
    is_int "$status" 1 'in a root with glibc alone a .png ends with status 1'
    file_has err '^flame: .*libcairo\.so\.2' 'in a root with glibc alone a .png names the library that is missing'
else
    skip not-root 'no root of its own can be made'
fi

# A root with musl and one program alone, as Alpine: what is linked statically needs nothing of it.
if [ -e "$BUILD/musl/libflamemem.so" ] && musl=$(realpath -e /lib/ld-musl-x86_64.so.1); then
    rm -rf root/lib root/lib64
    mkdir root/lib
    cp "$musl" root/lib/ld-musl-x86_64.so.1
    cp moved/leaky.musl root/leaky
    ok 'nap is built with musl' musl-gcc -g -O0 -o root/nap nap.c
fi
static=/flame/bin/flame-static
if [ ! -e root/lib/ld-musl-x86_64.so.1 ]; then
    skip musl 'musl-gcc or musl is not here'
elif in_root $static --version >out 2>err; then
    run_expect_status 0 'in a root with musl alone flame-static mem succeeds' \
        in_root $static mem -o /tmp/s.flame -- /leaky
    run_expect_status 0 'in a root with musl alone flame-static fold succeeds' in_root $static fold --lines /tmp/s.flame
    file_has out ';main leaky\.c:3 4321$' 'in a root with musl alone flame-static mem has the line'
    run_expect_status 23 'in a root with musl alone flame-static leak ends with status 23' in_root $static leak -- /leaky
    run_expect_status 0 'in a root with musl alone flame-static off succeeds' \
        in_root $static off -o /tmp/s.folded -- /nap
    file_has root/tmp/s.folded '^nap;.*nanosleep [0-9]{6}$' 'in a root with musl alone flame-static off has the sleep'
    file_lacks root/tmp/s.folded memset 'a system call of musl has no name of a function that lies before it'
    run_expect_status 0 'in a root with musl alone flame-static run succeeds' in_root $static run -o /tmp/s.html -- /leaky
    run in_root $static render -o /tmp/s.png /tmp/s.flame
    is_int "$status" 1 'flame-static render -o x.png ends with status 1'
    file_has err 'libcairo\.so\.2' 'flame-static names the library that it does not load'
else
    skip not-root 'no root of its own can be made'
fi
run_expect_status 0 'flame-static works with the GNU C library, too' clean moved/bin/flame-static off -o y.folded -- sleep 0.1
file_lacks err 'all its calls stop|cannot be found' 'flame-static off finds the calls of the C library'
run clean moved/bin/flame-static doctor
like "$(cat out)" '^yes +off ' 'flame-static doctor tries a program that is not linked statically'

done_testing
