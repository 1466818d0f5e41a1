#!/bin/bash
# fold.sh: speed of folding other profilers' text, against the stackcollapse scripts.
#
#     bench/fold.sh [--million]
#
# Collapses 200 MB of perf script's text with 200 different stacks, compares two folded files of
# 27,053 stacks, and with --million folds a million different stacks (0.9 GB, made in $TMPDIR). With
# FLAMEGRAPH=dir the scripts there run turn by turn with flame, and the ratios are printed, each
# turn's: the median, the smallest and the largest. ROUNDS (5) times each. Output goes to /dev/null,
# so that the disk is not measured. `make bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

# Turn by turn: flame ARGUMENTS, then the script with the FILES.
against() { # WHAT SCRIPT ARGUMENTS -- FILES
    local what=$1 script=$2 command=() has_peer='' i
    shift 2
    while [ "$1" != -- ]; do
        command+=("$1")
        shift
    done
    shift
    rm -f "$dir/flame-times" "$dir/perl-times"
    ! peer "$script" || has_peer=1
    for ((i = 0; i < rounds; i++)); do
        once flame-times "$flame" "${command[@]}" "$@"
        [ -z "$has_peer" ] || once perl-times "$FLAMEGRAPH/$script" "$@"
    done
    tell flame-times "$what"
    [ -n "$has_peer" ] || return 0
    tell perl-times "  $script"
    ratio perl-times flame-times
}

# 1 MB of samples that end in 200 different stacks, two hundred times over.
awk 'BEGIN { for (i = 0; size < 1000000; i = (i + 1) % 200) {
    s = sprintf("app %d/%d [%03d] %d.%06d:   10101010 cycles:u: \n", 4000 + i, 4100 + i, i % 8, 1000 + i, i * 4999)
    for (k = 0; k < 30; k++)
        s = s sprintf("\t%16x std::vector<app::Request, app::Pool<%d> >::method_%d+0x%x (/usr/lib/x86_64-linux-gnu/libapp.so.%d)\n",
                      140000000000000 + i * k * 64, k, k < 20 ? k : i * k, 16 + k, k % 3)
    printf "%s\n", s
    size += length(s) + 1 } }' >"$dir/one"
for ((i = 0; i < (tiny ? 1 : 200); i++)); do cat "$dir/one"; done >"$dir/perf"
bytes=$(wc -c <"$dir/perf")
against "perf script, $((bytes / 1000000)) MB" stackcollapse-perf.pl collapse -- "$dir/perf"
rm "$dir/perf"
column flame-times 1 | bytes=$bytes awk \
    '{ mb = ENVIRON["bytes"] / 1e6; printf "  %.0f MB/s (%.0f to %.0f)\n", mb / $1, mb / $3, mb / $2 }'

"$dir/gen" "$((tiny ? 27 : 27053))" >"$dir/a"
awk 'NR % 7 { $NF += NR % 3; print }' "$dir/a" >"$dir/b"
against "diff of $(($(wc -c <"$dir/a") / 1000)) and $(($(wc -c <"$dir/b") / 1000)) kB" difffolded.pl diff -- "$dir/a" "$dir/b"

if [ "${1:-}" = --million ]; then
    "$dir/gen" "$((tiny ? 100 : 1000000))" >"$dir/large"
    cat "$dir/large" >/dev/null
    FLAMEGRAPH='' against "$(stacks_of large), $(($(wc -c <"$dir/large") / 1000000)) MB" none \
        fold -- "$dir/large"
fi
