#!/bin/bash
# guest.sh DIR SCRIPT [FILE...]: boots Debian's kernel for aarch64 in qemu-system-aarch64, without a
# disk or a network, and runs SCRIPT in it as root, by bash. Beside it, in /work, lie the FILEs, each
# by its base name; flame and its recorder of `make cross-aarch64` are in /bin, their libraries where
# the loader looks. What SCRIPT writes is written here, and its status is this one's.
#
# guest.sh -t DIR TEST...: runs tests there instead, shell tests and units, one after the other; the
# tree is in the guest at the path that it has here. One line for each has its result, and the exit
# status is 0 if none failed. Programs that a test compiles are compiled here, by the cross compiler
# (guest_cc.sh asks, guest_serve.sh answers): the guest has no compiler.
#
# DIR (build/guest-aarch64) caches the kernel, and a root of Debian's packages for arm64: the
# kernel, busybox to start with, and what the tests call. All come from the archive that apt knows
# here and are taken out of their packages; nothing is installed. O names the build (default:
# build). With GUEST_PAGES=16 the kernel has pages of 16 KiB, as that of a Raspberry Pi 5: it is Debian
# 13's, from the same archive; DIR is another one then.
#
# Ends with 77 and one line where it cannot be done, 124 if the guest took longer than GUEST_SECONDS.
set -euo pipefail

tests=
if [ "${1-}" = -t ]; then
    tests=yes
    shift
fi
dir=${1:?usage: guest.sh DIR SCRIPT [FILE...]}
first=${2:?usage: guest.sh DIR SCRIPT [FILE...]}
shift
O=${O:-build}
sysroot=$O/sysroot-aarch64
pages=${GUEST_PAGES:-4}
case $pages in
4 | 16) ;;
*)
    echo "flame: guest.sh: GUEST_PAGES=$pages; there are kernels for pages of 4 and of 16 KiB" >&2
    exit 2
    ;;
esac
here=$(cd "${0%/*}" && pwd -P)
tree=$(cd "$here/.." && pwd -P)
packages='bash busybox-static coreutils dash debianutils diffutils findutils grep gzip hostname libc-bin mawk
    ncurses-base perl procps python3-minimal libpython3-stdlib sed strace tar util-linux'

cannot() {
    echo "flame: no guest of aarch64 here: $*" >&2
    exit 77
}

for tool in qemu-system-aarch64 qemu-aarch64 apt-get apt-cache dpkg-deb gzip tar xz; do
    command -v "$tool" >/dev/null || cannot "it wants $tool (qemu-system-arm and qemu-user have two of them)"
done
if [ ! -e "$O/aarch64/flame" ] || [ ! -e "$sysroot/.complete" ]; then
    cannot "'make cross-aarch64' has built nothing"
fi
sysroot=$(cd "$sysroot" && pwd -P)

mkdir -p "$dir"
dir=$(cd "$dir" && pwd -P)
scratch=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# archive ROOT: an archive of it for the kernel to begin with, on standard output. busybox's own is used,
# as few machines have a cpio.
archive() {
    (cd "$1" && find . | qemu-aarch64 "$dir/busybox" cpio -o -H newc -R 0:0 2>/dev/null)
}

# Another processor's apt, as in cross.sh.
release=()
apt() {
    local command=$1
    shift
    "apt-$command" -qq -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Dir::State="$dir/.apt" \
        -o Dir::State::status="$dir/.apt/status" -o Dir::Cache="$dir/.apt/cache" \
        -o APT::Install-Recommends=0 -o APT::Sandbox::User=root -o Debug::NoLocking=1 "${release[@]}" "$@" </dev/null
}

# Has apt see Debian 13 alone, whatever this machine is.
see_newer() {
    local archive
    # shellcheck disable=SC2016 # apt's own word
    archive=$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m 1 '/debian/*$') ||
        cannot 'apt knows no archive of Debian'
    mkdir -p "$dir/.apt/none"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive trixie main" >"$dir/.apt/newer.list"
    release=(-o Dir::Etc::sourcelist="$dir/.apt/newer.list" -o Dir::Etc::sourceparts="$dir/.apt/none")
}

get_kernel() {
    local package=linux-image-cloud-arm64 kernel
    if [ "$pages" = 16 ]; then
        see_newer
        package=linux-image-arm64-16k
    fi
    apt get update >"$dir/.apt/log" 2>&1 || cannot "apt-get update: $(tail -n 1 "$dir/.apt/log")"
    kernel=$(apt cache depends $package | awk '/Depends: linux-image/ { print $2; exit }') ||
        cannot "no package $package"
    # The kernel's own package would have others with it, which make an initial file system.
    (cd "$dir" && apt get download "$kernel") >"$dir/.apt/log" 2>&1 ||
        cannot "apt-get download: $(tail -n 1 "$dir/.apt/log")"
    release=()
}

get() {
    local package root=$dir/root
    rm -rf "$dir/.apt" "$root" "$dir/taken" "$dir"/*.deb
    mkdir -p "$dir/.apt/lists/partial" "$dir/.apt/cache/archives/partial" "$dir/taken"
    : >"$dir/.apt/status"
    get_kernel
    apt get update >"$dir/.apt/log" 2>&1 || cannot "apt-get update: $(tail -n 1 "$dir/.apt/log")"
    # shellcheck disable=SC2086 # a list of words
    apt get -y --download-only install $packages >"$dir/.apt/log" 2>&1 ||
        cannot "apt-get: $(tail -n 1 "$dir/.apt/log")"
    dpkg-deb -x "$dir"/linux-image-*.deb "$dir/taken"
    mv "$dir"/taken/boot/vmlinuz-* "$dir/vmlinuz"
    mkdir -p "$root"/usr/bin "$root"/usr/sbin "$root"/usr/lib "$root"/proc "$root"/sys "$root"/dev "$root"/run "$root"/root
    mkdir -m 1777 "$root/tmp" "$root/work"
    ln -s usr/bin "$root/bin"
    ln -s usr/sbin "$root/sbin"
    ln -s usr/lib "$root/lib"
    for package in "$dir"/.apt/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink --no-same-owner -C "$root"
    done
    mv "$root/bin/busybox" "$dir/busybox"
    # With this module the tracer finds the owner of each end of a socket; elsewhere the kernel
    # loads it on demand.
    find "$dir/taken" -name 'unix_diag.ko*' -exec cp {} "$root/root/" \;
    [ ! -e "$root/root/unix_diag.ko.xz" ] || xz -d "$root/root/unix_diag.ko.xz"
    rm -rf "$root"/usr/share/{doc,man,locale,info,zoneinfo} "$root"/usr/lib/aarch64-linux-gnu/gconv \
        "$root"/usr/lib/python3*/{test,idlelib,lib2to3,ensurepip,distutils}
    ln -sf mawk "$root/bin/awk"
    ln -sf dash "$root/bin/sh"
    ln -sf /proc/self/mounts "$root/etc/mtab"
    printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534:nobody:/nonexistent:/bin/sh\n' >"$root/etc/passwd"
    printf 'root:x:0:\nnogroup:x:65534:\n' >"$root/etc/group"
    printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
    archive "$root" >"$dir/root.cpio"
    rm -rf "$dir/.apt" "$root" "$dir/taken" "$dir"/*.deb
    printf '%s\n' "$pages $packages" >"$dir/.complete"
}
# A list of packages that is another makes another root.
[ "$(cat "$dir/.complete" 2>/dev/null)" = "$pages $packages" ] || get

# Files on top of the packages: built programs, their libraries, and the files to run.
over=$scratch/over
lib=usr/lib/aarch64-linux-gnu
mkdir -p "$over/usr/bin" "$over/work" "$over/$lib"
cp "$dir/busybox" "$over/usr/bin/busybox"
cp "$O/aarch64/flame" "$O/aarch64/libflamemem.so" "$over/usr/bin/"
cp -d "$sysroot/lib/aarch64-linux-gnu"/*.so* "$over/$lib/"
for file in "$sysroot/$lib"/*.so.* "$sysroot/$lib"/*-[0-9]*.so; do
    cp -d "$file" "$over/$lib/"
done

copy_tree() {
    mkdir -p "$over$tree" "$scratch/compiled"
    (cd "$tree" && git -c safe.directory="$tree" ls-files -z -co --exclude-standard bench common docs examples inject preload patch inproc \
        unwind tests scripts fold tracer render driver man flame.c README.md Makefile |
        tar -c --null --ignore-failed-read -T - 2>/dev/null) | tar -x -C "$over$tree"
    mkdir -p "$over$tree/build"
    (cd "$O/aarch64" && find . -type f \( -name flame -o -name '*.so' -o -path './tests/unit/*/test_*' \)) |
        while read -r file; do
            mkdir -p "$over$tree/build/${file%/*}"
            cp "$O/aarch64/$file" "$over$tree/build/$file"
        done
    install -m 755 "$here/guest_cc.sh" "$over/usr/bin/gcc"
    ln -sf gcc "$over/usr/bin/cc"
    printf '%s\n' "$@" >"$over/work/tests"
    printf '%s\n' "$tree" >"$over/work/tree"
    env | grep -E '^(GUEST_|CI=|FLAME_MAY_SKIP=|OFF_HOW=)' | sed "s/=\(.*\)/='\1'/; s/^/export /" >"$over/work/environment"
}

echo $((pages * 1024)) >"$over/work/pages"
line=(-nic none)
if [ -n "$tests" ]; then
    copy_tree "$@"
    cp "$here/guest_tests.sh" "$over/work/script"
    mkfifo "$scratch/cc.in" "$scratch/cc.out"
    line+=(-chardev "pipe,id=cc,path=$scratch/cc" -device 'pci-serial,chardev=cc')
    "$here/guest_serve.sh" "$scratch/compiled" "$sysroot" "$tree" <"$scratch/cc.out" 3<>"$scratch/cc.in" >&3 2>"$dir/serve.log" &
    server=$!
else
    cp "$first" "$over/work/script"
    shift
    for file in "$@"; do
        cp "$file" "$over/work/"
    done
fi
cat >"$over/init" <<'END'
#!/bin/busybox sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8
busybox mount -t proc proc /proc
busybox mount -t sysfs sys /sys
busybox mount -t devtmpfs dev /dev
mkdir -p /dev/shm /dev/pts
busybox mount -t tmpfs shm /dev/shm
busybox mount -t devpts -o ptmxmode=666 pts /dev/pts
busybox mount -t tmpfs -o mode=1777 tmp /tmp
ln -s /proc/self/fd /dev/fd
busybox ip link set lo up 2>/dev/null
busybox insmod /root/unix_diag.ko 2>/dev/null
cd /work
if [ "$(getconf PAGESIZE)" = "$(cat pages)" ]; then
    bash ./script </dev/null 2>&1
    echo "guest.sh: status $?"
else
    echo "the kernel's pages are not of $(cat pages) bytes"
    echo 'guest.sh: status 1'
fi
busybox poweroff -f
END
chmod +x "$over/init"
{ cat "$dir/root.cpio" && archive "$over"; } >"$scratch/initrd"
rm -rf "$over"
timeout "${GUEST_SECONDS:-300}" qemu-system-aarch64 -M virt -cpu "${GUEST_CPU:-max,pauth-impdef=on}" -smp 2 -m "${GUEST_MB:-2048}" \
    -nographic "${line[@]}" -no-reboot -kernel "$dir/vmlinuz" -initrd "$scratch/initrd" \
    -append 'console=ttyAMA0 quiet panic=-1' </dev/null | sed -u 's/\r//g' | tee "$scratch/log" |
    { grep --line-buffered -v -e '^guest.sh: status' -e 'reboot: Power down$' || true; }
status=$(sed -n 's/^guest.sh: status \([0-9]*\)$/\1/p' "$scratch/log")
exit "${status:-124}"
