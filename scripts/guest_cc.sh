#!/bin/bash
# guest_cc.sh [ARGUMENT...]: takes the place of gcc in the guest of guest.sh -t. The command is sent
# through the guest's serial line to guest_serve.sh, with the files of the folders that it names
# below /tmp, and what the cross compiler has written there comes back: the guest sees a compiler
# that is quick.
#
# Request: "cc BYTES", then so many bytes of a tar file with the files and, as /.cc, the folder it
# is called in and the arguments, each ended by NUL. Answer: "STATUS BYTES", then, at each "next",
# 3072 bytes of a tar file with the new files, and /.said and /.out, the compiler's errors and
# output.
set -euo pipefail

[ -z "${GUEST_TRACE-}" ] || set -x
line=/dev/ttyS0
exec 9>/run/cc.lock
flock 9
asked=$(mktemp -d /run/cc.XXXXXX)
trap 'rm -rf "$asked"' EXIT
printf '%s\0' "$PWD" "$@" >"$asked/.cc"
# Sources may be read from standard input.
: >"$asked/.stdin"
for word in "$@"; do
    [ "$word" != - ] || cat >"$asked/.stdin"
done
# The folders of files that are named, and the one it is called in.
folders=$(for word in "$PWD/." "$@"; do
    case $word in
    *-[LI]/tmp/*) word=${word#-?}/ ;;
    esac
    case $word in
    /tmp/*) echo "${word%/*}" ;;
    esac
done | sort -u)
for folder in $folders; do
    # Traces and pages are not compiled.
    find "$folder" -maxdepth 1 -type f -size -4096k ! -name '*.flame' ! -name '*.html' ! -name '*.svg' 2>/dev/null
    echo "$folder"
done >"$asked/list"
tar -czf "$asked/asked.tgz" --no-recursion --ignore-failed-read -P -C "$asked" .cc .stdin -T "$asked/list" 2>/dev/null || true

stty -F $line raw -echo 115200
exec 8<>$line
{
    printf 'cc %d\n' "$(stat -c %s "$asked/asked.tgz")"
    cat "$asked/asked.tgz"
} >&8
read -r status bytes <&8
# A terminal's line loses bytes that are not read soon, so no more is sent at once than it buffers.
for ((at = 0; at < bytes; at += 3072)); do
    echo next >&8
    head -c $((bytes - at < 3072 ? bytes - at : 3072)) <&8
done >"$asked/answer.tgz"
tar -xzf "$asked/answer.tgz" --no-same-owner -C "$asked"
cat "$asked/.said" >&2
[ ! -s "$asked/.out" ] || cat "$asked/.out"
if [ -d "$asked/tmp" ]; then
    cp -a "$asked/tmp/." /tmp/
fi
exit "$status"
