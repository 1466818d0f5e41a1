#!/bin/bash
# render.sh: how long drawing takes and how much memory, against flamegraph.pl.
#
#     bench/render.sh [--million]
#
# Draws 27,053 different stacks (and with --million a million, 0.9 GB of text, made
# in $TMPDIR) as SVG, page and PNG, and writes the exports. With FLAMEGRAPH=dir it also
# runs $FLAMEGRAPH/flamegraph.pl on the smaller input, turn by turn with flame, and
# prints the ratios, each turn's: the median, the smallest and the largest. With Chromium
# and playwright-core it also says how quick the page is. ROUNDS (5) times each. `make
# bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

keep=1
pictures='svg html png'
exports='folded pprof speedscope d3 grafana firefox chrome callgrind massif text csv'

measure() { # INPUT LABEL FORMATS
    local i format
    for format in $3; do
        for ((i = 0; i < rounds; i++)); do
            once "$2-$format" "$flame" render -f "$format" "$dir/$1"
        done
        tell "$2-$format" "$2 stacks, $format"
    done
}

stacks=$((tiny ? 27 : 27053))
"$dir/gen" "$stacks" >"$dir/small"
cat "$dir/small" >/dev/null
measure small "$stacks" "$pictures $exports"

if peer flamegraph.pl; then
    for ((i = 0; i < rounds; i++)); do
        once perl "$FLAMEGRAPH/flamegraph.pl" "$dir/small"
        once svg "$flame" render "$dir/small"
    done
    tell perl "$stacks stacks, flamegraph.pl"
    ratio perl svg
fi

if [ "${1:-}" = --million ]; then
    stacks=$((tiny ? 100 : 1000000))
    "$dir/gen" "$stacks" >"$dir/large"
    cat "$dir/large" >/dev/null
    rounds=$(((rounds + 1) / 2))
    measure large "$stacks" "$pictures pprof speedscope"
    rm "$dir/large"
fi

if [ -z "$tiny" ] && [ -d "$root/node_modules/playwright-core" ] && command -v chromium >/dev/null; then
    "$flame" render -o "$dir/page.html" "$dir/small"
    echo "the page of $stacks stacks, $(($(wc -c <"$dir/page.html") / 1024)) KiB, in Chromium:"
    node "$root/bench/page_speed.mjs" "$dir/page.html"
fi
