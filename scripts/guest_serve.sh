#!/bin/bash
# guest_serve.sh DIR SYSROOT TREE: compiles for the guest of guest.sh -t (guest_cc.sh has the
# protocol) with the cross compiler, in DIR, which has the guest's /tmp meanwhile; the program has
# the guest's paths. Each compilation is reported on standard error. Ends with its input.
set -euo pipefail

dir=$1 sysroot=$2 tree=$3
# one BYTES: a command of so many bytes. $word is "cc" behind it if the guest requests another
# compilation of $more bytes instead of the rest of the answer.
one() {
    local status=0 bytes at cwd program=aarch64-linux-gnu-gcc argument=() words=()

    word=''
    rm -rf "$dir/at" "$dir/out"
    mkdir -p "$dir/at/tmp" "$dir/out"
    head -c "$1" | tar -xz -P --transform "s,^/,$dir/at/,;s,^\.cc\$,$dir/out/.cc,;s,^\.stdin\$,$dir/out/.stdin," --no-same-owner
    mapfile -d '' -t words <"$dir/out/.cc"
    cwd=${words[0]}
    for word in "${words[@]:1}"; do
        # Files of the guest's /tmp, wherever a word names them; this tree may be in /var/tmp.
        argument+=("$(printf %s "$word" | sed -zE "s,(^|^-[IL]|[^A-Za-z0-9_./-])/tmp/,\\1$dir/at/tmp/,g")")
    done
    case $cwd in
    /tmp*) cwd=$dir/at$cwd ;;
    esac
    touch "$dir/out/begun"
    # Makes received files older than the files that are built from them.
    find "$dir/at" -type f -exec touch -d '1 minute ago' {} +
    (cd "$cwd" 2>/dev/null && exec "$program" --sysroot="$sysroot" -ffile-prefix-map="$dir/at=" "${argument[@]}") \
        <"$dir/out/.stdin" >"$dir/out/.out" 2>"$dir/out/.said" || status=$?
    sed -i "s,$dir/at,,g" "$dir/out/.said" "$dir/out/.out"
    (cd "$dir/at" && find tmp -type f -newer "$dir/out/begun" >"$dir/out/list")
    tar -czf "$dir/out/answer.tgz" -C "$dir/out" .said .out -C "$dir/at" -T "$dir/out/list"
    bytes=$(stat -c %s "$dir/out/answer.tgz")
    printf '%d %d\n' "$status" "$bytes"
    word=''
    for ((at = 0; at < bytes; at += 3072)); do
        # The requesting process may have ended, and another one may send a request.
        read -r word more || break
        [ "$word" = next ] || break
        tail -c +$((at + 1)) "$dir/out/answer.tgz" | head -c 3072 || true
    done
    printf '%s: status %d: %s\n' "$cwd" "$status" "${words[*]:1}" >&2
}

# $tree is at the same path there, so files in it need no other name.
cd "$tree"
word='' more=''
while [ "$word" = cc ] || read -r word more; do
    [ "$word" = cc ] || continue
    one "$more"
done
