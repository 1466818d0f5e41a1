# shellcheck shell=bash disable=SC2034 # what it sets is for the scripts
# lib.sh: what bench/fold.sh and bench/render.sh share. Source it first. Gives $root,
# $flame, $rounds, a directory $dir that goes away at the end with the generator
# $dir/gen in it, and:
#
#   once NAME COMMAND...   a run, its seconds and KiB a line of $dir/NAME; $dir/out has
#                          what it printed if $keep is set, else /dev/null
#   stacks_of INPUT        "N stacks": the lines of $dir/INPUT, which are all different
#   tell NAME WHAT         a line: median, smallest and largest seconds, median MiB
#   peer SCRIPT             whether $FLAMEGRAPH has it; a line if only it is missing there
#   ratio SLOW FAST        a line: how many times as fast, turn by turn
#
# TINY=1 makes inputs that show nothing but that the script works.
set -eu
export LC_ALL=C

root=$(cd "${0%/*}/.." && pwd -P)
flame=${FLAME:-$root/${O:-build}/flame}
rounds=${ROUNDS:-5}
tiny=${TINY:-}
dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT
keep=

"${CC:-gcc}" -O2 -o "$dir/gen" "$root/bench/gen_folded.c"

# time's own clock ticks in hundredths of a second, too coarse for ratios.
once() {
    local name=$1 to=/dev/null start us
    shift
    [ -z "$keep" ] || to=$dir/out
    start=${EPOCHREALTIME/./}
    /usr/bin/time -o "$dir/kib" -f %M "$@" >"$to" 2>/dev/null
    us=$((${EPOCHREALTIME/./} - start))
    printf '%d.%06d %s\n' $((us / 1000000)) $((us % 1000000)) "$(tail -n 1 "$dir/kib")" >>"$dir/$name"
}

peer() {
    [ -n "${FLAMEGRAPH:-}" ] || return 1
    [ -x "$FLAMEGRAPH/$1" ] || {
        echo "  no $1 in $FLAMEGRAPH to compare with"
        return 1
    }
}

# Numbers on standard input: "median smallest largest".
spread() {
    sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)], v[1], v[NR] }'
}

column() { # NAME COLUMN: of the lines of $dir/NAME
    cut -d' ' -f"$2" "$dir/$1" | spread
}

# Counted, so that a label cannot be of another input than the figures beside it.
stacks_of() {
    echo "$(wc -l <"$dir/$1") stacks"
}

tell() {
    echo "$(column "$1" 1) $(column "$1" 2)" | what=$2 awk \
        '{ printf "%-38s %7.3f s  (%.3f to %.3f)  %7.1f MiB\n", ENVIRON["what"], $1, $2, $3, $4 / 1024 }'
}

ratio() {
    paste -d' ' "$dir/$1" "$dir/$2" | awk '{ print $1 / $3 }' | spread |
        awk '{ printf "  flame is %.1f times as fast (%.1f to %.1f)\n", $1, $2, $3 }'
}

# The library that heaptrack preloads; nothing where it is not installed.
heaptrack_library() {
    local file
    for file in /usr/lib{,/*}/heaptrack/libheaptrack_preload.so; do
        [ ! -e "$file" ] || echo "$file"
    done | tail -n 1
}
