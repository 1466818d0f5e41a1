#!/bin/bash
# render.sh: how long drawing takes and how much memory, against flamegraph.pl.
#
#     bench/render.sh [--million]
#
# Draws 27,053 different stacks (and with --million a million, 0.9 GB of text, made
# in $TMPDIR) as SVG, page and PNG. With FLAMEGRAPH=dir it also runs
# $FLAMEGRAPH/flamegraph.pl on the smaller input, turn by turn with flame, and
# prints the ratio of the medians. With Chromium and playwright-core it also says
# how quick the page is. ROUNDS (5) times each.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

# Seconds and KiB of one run, appended to $dir/NAME.
once() {
    local name=$1
    shift
    /usr/bin/time -a -o "$dir/$name" -f '%e %M' "$@" >"$dir/out" 2>/dev/null
}

tell() { # NAME WHAT
    awk -v what="$2" -v s="$(median "$1" 1)" -v k="$(median "$1" 2)" \
        -v low="$(sort -n "$dir/$1" | head -1 | cut -d' ' -f1)" \
        -v high="$(sort -n "$dir/$1" | tail -1 | cut -d' ' -f1)" \
        'BEGIN { printf "%-34s %7.2f s  (%.2f to %.2f)  %7.1f MiB\n", what, s, low, high, k / 1024 }'
}

measure() { # INPUT LABEL
    local i format
    for format in svg html png; do
        for ((i = 0; i < rounds; i++)); do
            once "$2-$format" "$flame" render -f "$format" "$dir/$1"
        done
        tell "$2-$format" "$2 stacks, $format"
    done
}

"$dir/gen" 27053 >"$dir/small"
cat "$dir/small" >/dev/null
measure small 27053

if [ -n "${FLAMEGRAPH:-}" ]; then
    rm -f "$dir/27053-svg"
    for ((i = 0; i < rounds; i++)); do
        once 27053-perl "$FLAMEGRAPH/flamegraph.pl" "$dir/small"
        once 27053-svg "$flame" render "$dir/small"
    done
    tell 27053-perl '27053 stacks, flamegraph.pl'
    awk -v a="$(median 27053-perl 1)" -v b="$(median 27053-svg 1)" \
        'BEGIN { printf "flame is %.0f times as fast\n", a / b }'
fi

if [ "${1:-}" = --million ]; then
    "$dir/gen" 1000000 >"$dir/large"
    cat "$dir/large" >/dev/null
    rounds=$(((rounds + 1) / 2))
    measure large 1000000
    rm "$dir/large"
fi

if [ -d "$root/node_modules/playwright-core" ] && command -v chromium >/dev/null; then
    "$flame" render -o "$dir/page.html" "$dir/small"
    echo "the page of 27053 stacks, $(($(wc -c <"$dir/page.html") / 1024)) KiB, in Chromium:"
    node "$root/bench/page_speed.mjs" "$dir/page.html"
fi
