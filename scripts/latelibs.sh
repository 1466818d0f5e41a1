#!/bin/bash
# latelibs.sh: lists the functions of libraries that flame calls, for common/lazyload/lazyload.c.
#
#     latelibs.sh CC "-lONE -lTWO" OBJECT...
#
# Writes a C header. A library that is not shared, or of which the objects need data, too, is
# skipped: it is then linked like any other.
set -euo pipefail
export LC_ALL=C
cc=$1 libs=$2
shift 2
# A compiler for another processor has an nm that reads its objects, and libraries of its own.
nm=$($cc -print-prog-name=nm)
sysroot=$($cc -print-sysroot 2>/dev/null) || sysroot=
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$nm" -u --format=posix "$@" | awk 'NF > 1 { print $1 }' | sort -u >"$tmp/undefined"
"$nm" --defined-only --format=posix "$@" | awk 'NF > 2 { print $1 }' | sort -u |
    comm -23 "$tmp/undefined" - >"$tmp/needed"

# The file that -lNAME means, where it is a shared library: libm.so may be a line of text.
shared() { # NAME
    local file
    # shellcheck disable=SC2086 # a compiler may have options
    file=$($cc -print-file-name="lib$1.so")
    if [ -f "$file" ] && [ "$(head -c 4 "$file" | tail -c 3)" != ELF ]; then
        file=$sysroot$(grep -oE '/[^ ]*\.so\.[0-9]+' "$file" | head -n 1)
    fi
    [ ! -f "$file" ] || echo "$file"
}

n=0
: >"$tmp/libraries"
: >"$tmp/functions"
for lib in $libs; do
    case $lib in
    -lc | -lpthread | -ldl | -lrt) continue ;;
    -l*) file=$(shared "${lib#-l}") || continue ;;
    *) continue ;;
    esac
    [ -n "$file" ] || continue
    soname=$(readelf -dW "$file" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
    "$nm" -D --defined-only --format=posix "$file" | sed 's/@[^ ]*//' | awk '{ print $1, $2 }' |
        sort -u | join - "$tmp/needed" >"$tmp/of"
    # T, W and i are functions.
    if [ -z "$soname" ] || [ ! -s "$tmp/of" ] || grep -q ' [^TWi]$' "$tmp/of"; then
        continue
    fi
    echo "L($n, \"$soname\")" >>"$tmp/libraries"
    while read -r name; do
        echo "F($n, $name)"
        n=$((n + 1))
    done < <(cut -d' ' -f1 "$tmp/of" | sort -u) >"$tmp/more"
    cat "$tmp/more" >>"$tmp/functions"
    n=$(wc -l <"$tmp/functions")
done

echo '/* Made by scripts/latelibs.sh. */'
echo "#define LATE_COUNT $n"
echo "#define LATE_LIBRARIES(L) $(tr '\n' ' ' <"$tmp/libraries")"
echo "#define LATE_FUNCTIONS(F) $(tr '\n' ' ' <"$tmp/functions")"
