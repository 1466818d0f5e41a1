# shellcheck shell=bash disable=SC2034 # what it sets is for the scripts
# lib.sh: what bench/fold.sh and bench/render.sh share. Source it first. Gives $root,
# $flame, $rounds, a directory $dir that goes away at the end with the generator
# $dir/gen in it, and median.
set -eu

root=$(cd "${0%/*}/.." && pwd -P)
flame=${FLAME:-$root/${O:-build}/flame}
rounds=${ROUNDS:-5}
dir=$(mktemp -d "${TMPDIR:-/tmp}/flame-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT

"${CC:-gcc}" -O2 -o "$dir/gen" "$root/bench/gen_folded.c"

median() { # NAME COLUMN: of the lines of $dir/NAME
    sort -n -k "$2,$2" "$dir/$1" | awk -v c="$2" '{ v[NR] = $c } END { print v[int((NR + 1) / 2)] }'
}
