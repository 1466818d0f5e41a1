#!/bin/bash
# render.sh: how long drawing takes and how much memory, against flamegraph.pl.
#
#     bench/render.sh [--million]
#
# Draws 27,053 different stacks (and with --million a million, 0.9 GB of text, made
# in $TMPDIR) as SVG, page and PNG, and writes the exports. With FLAMEGRAPH=dir it also
# runs $FLAMEGRAPH/flamegraph.pl on the smaller input, turn by turn with flame, and
# prints the ratios, each turn's: the median, the smallest and the largest. Where the
# browser tests can run it also says how quick each page is. ROUNDS (5) times each, half as
# often for a million stacks. `make bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

keep=1
pictures='svg html png'
exports='folded pprof speedscope d3 grafana firefox chrome callgrind massif text csv'

# make_stacks COUNT INPUT: a file of different stacks, in memory when it is first drawn.
make_stacks() {
    "$dir/gen" "$1" >"$dir/$2"
    cat "$dir/$2" >/dev/null
}

measure() { # INPUT FORMATS
    local i format
    for format in $2; do
        for ((i = 0; i < rounds; i++)); do
            once "$1-$format" "$flame" render -f "$format" "$dir/$1"
        done
        tell "$1-$format" "$(stacks_of "$1"), $format"
    done
}

in_browser() { # INPUT
    local lacks
    lacks=$("$root/scripts/browser.sh") || {
        echo "the page of $(stacks_of "$1") is not opened: $lacks"
        return 0
    }
    "$flame" render -o "$dir/page.html" "$dir/$1"
    echo "the page of $(stacks_of "$1"), $(($(wc -c <"$dir/page.html") / 1024)) KiB, in Chromium:"
    node "$root/bench/page_speed.mjs" "$dir/page.html" "$rounds"
    rm "$dir/page.html"
}

make_stacks "$((tiny ? 27 : 27053))" small
measure small "$pictures $exports"
if peer flamegraph.pl; then
    for ((i = 0; i < rounds; i++)); do
        once perl "$FLAMEGRAPH/flamegraph.pl" "$dir/small"
        once svg "$flame" render "$dir/small"
    done
    tell perl "$(stacks_of small), flamegraph.pl"
    ratio perl svg
fi
in_browser small

if [ "${1:-}" = --million ]; then
    make_stacks "$((tiny ? 100 : 1000000))" large
    rounds=$(((rounds + 1) / 2))
    measure large "$pictures pprof speedscope"
    in_browser large
fi
