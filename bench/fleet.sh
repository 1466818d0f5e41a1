#!/bin/bash
# fleet.sh: what it takes to add up a fleet's stacks in bounded memory.
#
#     bench/fleet.sh [--sort]
#
# HOSTS (1000) files of folded text, each with COMMON (2000) stacks that all have and OWN
# (10000) that no other has: 10,002,000 different stacks in 12 million lines, 11 GB, in
# $TMPDIR. Folds them in memory and with --max-memory at each of LIMITS (1g 256m 64m), and says
# how long it took, the peak of resident memory, and whether the output is that from memory to
# the byte. With --sort also what a pipe of sort, with the last of the limits, and awk takes.
# TINY=1 makes a fleet of ten that shows nothing but that the script works. Needs 25 GB of disk.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

hosts=${HOSTS:-$((tiny ? 10 : 1000))}
own=${OWN:-$((tiny ? 300 : 10000))}
common=${COMMON:-$((tiny ? 100 : 2000))}
read -ra limits <<<"${LIMITS:-$([ -n "$tiny" ] && echo 1m || echo 1g 256m 64m)}"

mkdir "$dir/hosts"
"$dir/gen" "$common" 1 >"$dir/common"
for ((i = 1; i <= hosts; i++)); do
    { cat "$dir/common"; "$dir/gen" "$own" $((i + 1)); } >"$dir/hosts/$i.folded"
done
echo "$hosts files, $(cat "$dir"/hosts/*.folded | wc -lc | awk '{ printf "%.1f million lines, %.2f GB", $1 / 1e6, $2 / 1e9 }')"

# Prints the cost, and whether the bytes equal those of the first run.
told() { # NAME WHAT
    local sum
    tell "$1" "$2"
    sum=$(cksum <"$dir/sum")
    if [ -z "${first:-}" ]; then
        first=$sum
        echo "  $(wc -l <"$dir/sum") stacks"
    elif [ "$sum" = "$first" ]; then
        echo '  the same bytes'
    else
        echo '  OTHER BYTES'
        exit 1
    fi
    rm "$dir/sum"
}

once memory "$flame" fold -o "$dir/sum" "$dir"/hosts/*.folded
told memory 'in memory'
for limit in "${limits[@]}"; do
    once "$limit" env TMPDIR="$dir" "$flame" fold --max-memory "$limit" -o "$dir/sum" "$dir"/hosts/*.folded
    told "$limit" "--max-memory $limit"
done

# Lines of one stack come one after the other, if not only these; fold puts them right.
if [ "${1:-}" = --sort ]; then
    # shellcheck disable=SC2016 # awk's and the inner shell's
    once sort env limit="${limit^^}" dir="$dir" sh -c 'sort -S "${limit%I}" -T "$dir" "$dir"/hosts/*.folded |
        awk "{ n = \$NF; sub(/ [0-9]+\$/, \"\"); if (\$0 != s) { if (NR > 1) print s, t; s = \$0; t = 0 } t += n }
            END { print s, t }" >"$dir/sum"'
    told sort "sort -S $limit | awk"
fi
