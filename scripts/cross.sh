#!/bin/bash
# cross.sh DIR: the libraries that flame needs for aarch64, in DIR, which becomes a compiler's
# --sysroot and qemu's -L. They come from the archive that apt knows here and are taken out of their
# packages; nothing is installed, and this machine's own packages and lists stay as they are. A DIR
# that is complete stays as it is.
#
# Ends with 77 and one line where it cannot be made.
set -euo pipefail

dir=${1:?usage: cross.sh DIR}
arch=arm64
packages='libc6-dev libdwarf-dev libelf-dev libiberty-dev uthash-dev liblzma-dev libzstd-dev zlib1g-dev
    libpcre2-dev libunwind-dev libcairo2-dev libncurses-dev libseccomp-dev libprotobuf-c-dev'
# musl's are taken alone: its packages depend on a compiler that runs there.
musl='musl musl-dev musl-tools'

cannot() {
    echo "flame: no libraries for aarch64 here: $*" >&2
    exit 77
}

# The cross compiler as musl-gcc: its files are in DIR and not where musl's package has them, and libgcc's
# atomics, which are glibc's, are not called.
write_musl_gcc() {
    sed "s|/usr/|$dir/usr/|g" "$dir/usr/lib/aarch64-linux-musl/musl-gcc.specs" >"$dir/musl-gcc.specs"
    printf '#!/bin/sh\nexec aarch64-linux-gnu-gcc -mno-outline-atomics "$@" -specs %s/musl-gcc.specs\n' "$dir" \
        >"$dir/musl-gcc"
    chmod +x "$dir/musl-gcc"
}

if [ -e "$dir/.complete" ] && [ -e "$dir/.archives" ] && [ -e "$dir/usr/lib/aarch64-linux-musl/libc.so" ]; then
    # DIR may have been moved.
    dir=$(cd "$dir" && pwd -P)
    write_musl_gcc
    exit 0
fi
rm -rf "$dir/.apt"
for tool in apt-get dpkg-deb; do
    command -v "$tool" >/dev/null || cannot "they come by $tool"
done
mkdir -p "$dir/.apt/lists/partial" "$dir/.apt/cache/archives/partial"
dir=$(cd "$dir" && pwd -P)
: >"$dir/.apt/status"

# Another processor's apt, as it were, which has installed nothing yet.
apt() {
    apt-get -qq -o APT::Architecture=$arch -o APT::Architectures=$arch -o Dir::State="$dir/.apt" \
        -o Dir::State::status="$dir/.apt/status" -o Dir::Cache="$dir/.apt/cache" \
        -o APT::Install-Recommends=0 -o APT::Sandbox::User=root -o Debug::NoLocking=1 "$@" </dev/null
}

apt update >"$dir/.apt/log" 2>&1 || cannot "apt-get update: $(tail -n 1 "$dir/.apt/log")"
# shellcheck disable=SC2086 # a list of words
apt -y --download-only install $packages >"$dir/.apt/log" 2>&1 ||
    cannot "apt-get: $(tail -n 1 "$dir/.apt/log")"
for package in "$dir"/.apt/cache/archives/*.deb; do
    dpkg-deb -x "$package" "$dir"
    # Package, source, version and name of each static library, for packaging/tarball.sh.
    dpkg-deb -c "$package" | sed -n 's|.*/\(lib[^/ ]*\.a\)\( -> .*\)\{0,1\}$|\1|p' |
        while read -r file; do
            dpkg-deb -W --showformat="\${Package} \${source:Package} \${source:Version} $file\n" "$package"
        done
done >"$dir/.archives"
mkdir "$dir/.apt/musl"
# shellcheck disable=SC2086 # a list of words
(cd "$dir/.apt/musl" && apt download $musl) >"$dir/.apt/log" 2>&1 ||
    cannot "apt-get download: $(tail -n 1 "$dir/.apt/log")"
for package in "$dir"/.apt/musl/*.deb; do
    dpkg-deb -x "$package" "$dir"
done
write_musl_gcc
ln -sfn aarch64-linux-musl/libc.so "$dir/lib/ld-musl-aarch64.so.1"
ln -sfn ../../../lib/aarch64-linux-musl/libc.so "$dir/usr/lib/aarch64-linux-musl/libc.so"
rm -rf "$dir/.apt"
touch "$dir/.complete"
