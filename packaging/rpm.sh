#!/bin/bash
# rpm.sh O VERSION: makes RPM packages of this tree in O/rpm. Compiled files stay in O/rpm/obj. If that name has
# blanks, which break make and rpm's macros, the build is in a temporary directory.
#
# On a system that does not install packages by rpm (Debian), rpm does not know whether the required packages
# are installed, so the script skips rpm's check.
set -euo pipefail
cd "${0%/*}/.."
mkdir -p "$1/rpm"
out=$(cd "$1/rpm" && pwd -P)
dir=$out
if [[ $dir == *[[:space:]]* ]]; then
    dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-rpm.XXXXXX")
    trap 'rm -rf "$dir"' EXIT
fi
version=$2

rm -rf "$out"/{BUILD,BUILDROOT,RPMS,SOURCES,SPECS,SRPMS}
mkdir -p "$dir/SOURCES"
packaging/files.sh | tar --null --no-recursion -T - --transform "s|^|flame-$version/|" \
    -czf "$dir/SOURCES/flame-$version.tar.gz"
nodeps=
rpm -q rpm >/dev/null 2>&1 || nodeps=--nodeps
log=$out/build.log
# shellcheck disable=SC2086 # an option or none
if ! env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS rpmbuild -ba $nodeps --define "_topdir $dir" \
    --define "flame_version $version" --define "flame_o $dir/obj" packaging/rpm/flame.spec >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "flame: rpmbuild failed; all it said is in $log" >&2
    exit 1
fi
rm -rf "$dir"/{BUILD,BUILDROOT,SOURCES}
[ "$dir" = "$out" ] || mv "$dir"/{RPMS,SRPMS} "$out"
ls "$out"/RPMS/*/*.rpm "$out"/SRPMS/*.rpm
