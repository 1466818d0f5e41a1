# shellcheck shell=bash disable=SC2034 # INSIDE is for the tests
# inside.sh: $INSIDE is --inside where the loader puts the gate's library in its place, else empty.
# Source it after lib.sh.

INSIDE=--inside
libc=$(getconf GNU_LIBC_VERSION)
[ "${libc##*.}" -ge 36 ] || INSIDE=
