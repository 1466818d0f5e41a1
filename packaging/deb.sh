#!/bin/bash
# deb.sh DIR: makes the Debian packages of this tree in DIR, and checks them with lintian.
#
# The script copies the sources to DIR/flame-VERSION, with packaging/debian as its debian/, so the tree does
# not change. Compiled files stay in DIR/obj. If DIR's name has blanks, which break make and dpkg's flags for
# the compiler, the build is in a temporary directory instead. The status is not 0 if the build fails or
# lintian reports anything that packaging/debian does not override with a reason.
set -euo pipefail
cd "${0%/*}/.."
mkdir -p "$1"
out=$(cd "$1" && pwd -P)
dir=$out
if [[ $dir == *[[:space:]]* ]]; then
    dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-deb.XXXXXX")
    trap 'rm -rf "$dir"' EXIT
fi
version=$(sed -n 's/^.define FLAME_VERSION "\(.*\)"/\1/p' common/commands.h)
source=$dir/flame-$version

# Prints the time of the sources' newest change, so that repeated builds make the same packages.
changed() {
    { [ -e .git ] && git -c safe.directory="$PWD" log -1 --format=%cD 2>/dev/null; } || date -R -r CHANGELOG.md
}

rm -rf "$source" "$out"/*.{deb,dsc,changes,buildinfo} "$out"/*.tar.*
mkdir "$source"
packaging/files.sh | tar --null --no-recursion -T - -cf - | tar -C "$source" -xf -
cp -a packaging/debian "$source/debian"
cat >"$source/debian/changelog" <<END
flame ($version) unstable; urgency=medium

  * What has changed is in CHANGELOG.md of the sources.

 -- $(sed -n 's/^Maintainer: //p' packaging/debian/control)  $(changed)
END

log=$out/build.log
if ! (cd "$source" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS FLAME_DEB_O="$dir/obj" \
    DEB_BUILD_OPTIONS="parallel=$(nproc) ${DEB_BUILD_OPTIONS-}" dpkg-buildpackage -us -uc) >"$log" 2>&1; then
    tail -n 40 "$log" >&2
    echo "flame: dpkg-buildpackage failed; all it said is in $log" >&2
    exit 1
fi
rm -rf "$source"
[ "$dir" = "$out" ] || mv "$dir"/*.{deb,dsc,changes,buildinfo} "$dir"/*.tar.* "$out"
ls "$out"/*.deb
look() {
    lintian --allow-root -i -I --pedantic --fail-on error,warning,info,pedantic "$out"/*.changes
}
# Status 1: lintian could not run, which happens now and then. Status 2: it has found something.
status=0
look || status=$?
if [ "$status" -eq 1 ]; then
    status=0
    look || status=$?
fi
exit "$status"
