#!/bin/sh
# deps.sh PACKAGE...: sees to it that Debian packages are installed.
#
# Where dpkg and apt-get are, missing packages are installed, through sudo when we are not root; apt
# is not run when nothing is missing, and the script waits for a lock that another apt holds.
# Elsewhere a package counts as present if a file of it exists (a header, a command), and the
# missing ones are listed.
set -eu

# package | what it is for | what shows that it is there
table='
gcc|the compiler|cmd:gcc
g++|C++ programs traced by the tests|cmd:g++
clang|the second compiler and the fuzzer|cmd:clang
libclang-rt-dev|the sanitizers of clang|lib:libclang_rt
clang-format|make lint|cmd:clang-format
gcc-aarch64-linux-gnu|make cross-aarch64|cmd:aarch64-linux-gnu-gcc
qemu-user|the same|cmd:qemu-aarch64
qemu-system-arm|make guest-check|cmd:qemu-system-aarch64
ccache|objects compiled before, in .ci/run|cmd:ccache
libc6-dev|headers of the C library|inc:stdlib.h
libdwarf-dev|file names, lines and inlined frames|inc:libdwarf.h
libelf-dev|symbol tables|inc:libelf.h
libiberty-dev|C++ and Rust names|inc:libiberty/demangle.h
uthash-dev|hash tables|inc:uthash.h
liblzma-dev|.gnu_debugdata|inc:lzma.h
libzstd-dev|compressed debug sections|inc:zstd.h
zlib1g-dev|compressed debug sections|inc:zlib.h
libpcre2-dev|regular expressions|inc:pcre2.h
libunwind-dev|walking stacks|inc:libunwind.h
libcairo2-dev|pictures in pixels (png)|inc:cairo/cairo.h
libncurses-dev|flame view and flame live, in the terminal|inc:curses.h
libprotobuf-c-dev|profiles for pprof|inc:protobuf-c/protobuf-c.h
protobuf-c-compiler|the same|cmd:protoc-c
libseccomp-dev|the system calls flame off stops at|inc:seccomp.h
pkg-config|how libraries are linked|cmd:pkg-config
jq|the program the demo records|cmd:jq
perl|prove, which runs the tests|cmd:prove
binutils|nm, objcopy, readelf|cmd:objcopy
golang-go|go tool pprof, in tests|cmd:go
protobuf-compiler|profiles for pprof looked into, in tests|cmd:protoc
dwz|shared debug information, in tests|cmd:dwz
xz-utils|packed symbols, in tests|cmd:xz
zstd|packed profiles, in tests|cmd:zstd
libc-devtools|sotruss, a tool the tests run the recorder under|cmd:sotruss
python3|JSON and XML checked in tests|cmd:python3
python3-jsonschema|reports held to schemas, in tests|py:jsonschema
python3-yaml|recipes held to schemas, in tests|py:yaml
libdebuginfod-dev|debug files from a server, in tests|inc:elfutils/debuginfod.h
libxml2-utils|the same|cmd:xmllint
tmux|a terminal for flame view, in tests|cmd:tmux
bats|a test runner with flame leak, in tests|cmd:bats
cmake|the same|cmd:ctest
meson|the same|cmd:meson
automake|the same|cmd:automake
python3-pytest|the same|py:pytest
libgtest-dev|regions by test case with flame leak, in tests|file:gtest
catch2|the same|file:catch2
libcmocka-dev|the same|file:cmocka.h
check|the same|file:check.h
nodejs|the browser tests|cmd:node
npm|the browser tests|cmd:npm
chromium|the browser tests|cmd:chromium
chromium-headless-shell|the same, without all that is around a page|cmd:chromium-headless-shell
firefox-esr|the same in a second browser|cmd:firefox-esr
shellcheck|make lint|cmd:shellcheck
mandoc|make lint|cmd:mandoc
pyflakes3|make lint|cmd:pyflakes3
gawk|another awk for the tests, in .ci/run|cmd:gawk
default-jdk-headless|recordings of Java, in .ci/full|cmd:javac
debootstrap|bare machines, in .ci/full and make fresh|cmd:debootstrap
valgrind|a check of memory errors, and make bench|cmd:valgrind
musl-tools|a child for another C library, in tests|cmd:musl-gcc
git|a program the tests record|cmd:git
sqlite3|a program the tests record|cmd:sqlite3
libjemalloc2|an allocator the tests record|lib:libjemalloc.so.2
libjemalloc-dev|the same, inside a program|inc:jemalloc/jemalloc.h
time|seconds and memory of a run, in make bench|cmd:/usr/bin/time
heaptrack|a recorder make bench compares with|cmd:heaptrack
libgoogle-perftools4|a heap profiler make bench compares with|lib:libtcmalloc.so.4
libmimalloc-dev|an allocator the tests record|lib:libmimalloc.so
libtcmalloc-minimal4|an allocator the tests record|lib:libtcmalloc_minimal.so.4
redis-server|a server the tests record|cmd:redis-server
redis-tools|its client|cmd:redis-cli
strace|a tracer beside ours, in tests and make bench|cmd:strace
linux-perf|what the scheduler says, in tests|cmd:perf
libpython3-testsuite|the tests of CPython, traced|cmd:python3
procps|processes by name, in tests|cmd:pgrep
zsh|completions, in tests|cmd:zsh
fish|completions, in tests|cmd:fish
postgresql|a server the examples trace|cmd:psql
debhelper|make deb|cmd:dh
lintian|the same|cmd:lintian
rpm|make rpm|cmd:rpmbuild
systemd|a drop-in looked at, in tests|cmd:systemd-analyze
'

row() {
    printf '%s\n' "$table" | grep "^$1|"
}

there_by_probe() {
    probe=$(row "$1" | cut -d'|' -f3)
    case $probe in
    cmd:*)
        command -v "${probe#cmd:}" >/dev/null
        ;;
    inc:libdwarf.h)
        for dir in '' libdwarf/ libdwarf-0/ libdwarf-2/; do
            has_header "${dir}libdwarf.h" && return 0
        done
        return 1
        ;;
    py:*)
        # As the tests choose: packages are the system's python's, another may come first.
        "$(command -v /usr/bin/python3 || echo python3)" -c "import ${probe#py:}" 2>/dev/null
        ;;
    lib:*)
        ldconfig -p 2>/dev/null | grep -q "${probe#lib:}"
        ;;
    inc:*)
        has_header "${probe#inc:}"
        ;;
    file:*)
        [ -e "/usr/include/${probe#file:}" ] || [ -e "/usr/local/include/${probe#file:}" ]
        ;;
    *)
        return 1
        ;;
    esac
}

has_header() {
    printf '#include <%s>\n' "$1" | ${CC:-cc} -E -x c - >/dev/null 2>&1
}

have_dpkg=false
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then
    have_dpkg=true
fi

missing=
for package in "$@"; do
    if $have_dpkg; then
        state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || state=
        [ "$state" = installed ] || missing="$missing $package"
    else
        there_by_probe "$package" || missing="$missing $package"
    fi
done
[ -n "$missing" ] || exit 0

# A package under another name, or built by hand, is as good.
if $have_dpkg; then
    left=
    for package in $missing; do
        there_by_probe "$package" || left="$left $package"
    done
    missing=$left
    [ -n "$missing" ] || exit 0
fi

if ! $have_dpkg; then
    echo "flame: this machine has no apt-get; please install what these Debian packages hold:" >&2
    for package in $missing; do
        row "$package" | sed -E '
            s/\|cmd:(.*)/ (the command \1)/
            s/\|inc:(.*)/ (the header \1)/
            s/\|file:(.*)/ (the headers \1)/
            s/\|lib:(.*)/ (the library \1)/
            s/\|/: /
            s/^/  /' >&2
    done
    exit 1
fi

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "flame: not root and no sudo; please run: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

echo "flame: installing$missing"
said=$(mktemp)
trap 'rm -f "$said"' EXIT
waited=0

# quiet_apt ARGUMENT...: apt-get, which waits while another apt or dpkg is at work, as one is
# on a machine that has just been started. Not DPkg::Lock::Timeout: that is for one of
# the three locks only, and says nothing when it is quiet.
quiet_apt() {
    until $as_root env DEBIAN_FRONTEND=noninteractive LC_ALL=C \
        apt-get -qq "$@" </dev/null >/dev/null 2>"$said"; do
        if [ "$waited" -ge 600 ] || ! grep -q '^E: Could not get lock' "$said"; then
            return 1
        fi
        if [ "$waited" -eq 0 ]; then
            echo "flame: waiting for another apt or dpkg to end, 10 minutes at most:" >&2
            sed -n 's/^E: Could not get lock/flame: it holds/p' "$said" >&2
        fi
        sleep 2
        waited=$((waited + 2))
    done
}

install_missing() {
    # shellcheck disable=SC2086 # a list of words
    quiet_apt -y --no-install-recommends -o Dpkg::Use-Pty=0 install $missing
}

# The lists may be absent or older than the archive: one update, then again.
if ! install_missing; then
    quiet_apt update || cat "$said" >&2
    if ! install_missing; then
        cat "$said" >&2
        echo "flame: apt-get could not install$missing (see above)" >&2
        exit 1
    fi
fi
