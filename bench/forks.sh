#!/bin/bash
# forks.sh: what recording costs a command that is many processes.
#
#     bench/forks.sh [--million]
#
# A child that allocates and ends, a child that executes true, 6,000 children (time, memory
# of flame, most of the disk its files took at a time), 2,000 equal traces folded; with
# CONFIGURE=file that script, run in an empty directory. Beside plain, the library alone with
# its recording off, and heaptrack's, which does not follow a fork and leaves a file for each
# program. Figures are CPU of the command and its children, turn by turn: the median, the
# smallest and the largest. ROUNDS (5) times each. `make bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"
export TMPDIR=$dir

shim=${SHIM:-$(dirname "$flame")/libflamemem.so}
heaptrack=$(heaptrack_library)
"${CC:-gcc}" -O2 -o "$dir/forks" "$root/bench/forks.c"
true=$(type -P true)

# A line of $dir/NAME: microseconds of CPU a child.
measure() { # NAME COMMAND...
    local name=$1
    shift
    "$@" | awk '{ printf "%.1f\n", $1 / 1000 }' >>"$dir/$name"
}

added() { # NAME WHAT: by what NAME is more than plain, turn by turn
    paste -d' ' "$dir/$1" "$dir/plain" | awk '{ print $1 - $2 }' | spread | what=$2 awk \
        '{ printf "  %-36s %7.0f us more  (%.0f to %.0f)\n", ENVIRON["what"], $1, $2, $3 }'
}

child() { # WHAT N [PROGRAM]
    local what=$1 i
    shift
    rm -f "$dir/plain" "$dir/off" "$dir/flame" "$dir/heaptrack"
    for ((i = 0; i < rounds; i++)); do
        measure plain "$dir/forks" "$@"
        measure off env LD_PRELOAD="$shim" FLAMEMEM_OPTIONS=record=0 "$dir/forks" "$@"
        measure flame "$flame" mem -q -o "$dir/x.folded" -- "$dir/forks" "$@"
        [ -z "$heaptrack" ] || measure heaptrack env LD_PRELOAD="$heaptrack" \
            DUMP_HEAPTRACK_OUTPUT="$dir/raw.\$\$" "$dir/forks" "$@"
        rm -f "$dir"/raw.*
    done
    column plain 1 | what=$what awk \
        '{ printf "%-38s %7.0f us  (%.0f to %.0f)\n", ENVIRON["what"], $1, $2, $3 }'
    added off 'flame, recording off'
    added flame 'flame, exact'
    [ -z "$heaptrack" ] || added heaptrack "heaptrack's library"
}

n=$((tiny ? 3 : 1000))
child 'a child that allocates and ends' "$n"
child 'a child that executes true' "$((n / 3))" "$true"

# Samples the disk usage while the file $dir/on exists.
watch_disk() {
    local most=0 now
    while [ -e "$dir/on" ]; do
        now=$(du -sk "$dir"/flame-mem.* 2>/dev/null | awk '{ n += $1 } END { print n + 0 }')
        ((now <= most)) || most=$now
        sleep 0.05
    done
    echo "$most" >"$dir/most"
}

# A line: seconds, MiB of memory, most MiB of disk.
whole() { # WHAT COMMAND...
    local what=$1
    shift
    rm -f "$dir/run"
    touch "$dir/on"
    watch_disk &
    once run "$@"
    rm "$dir/on"
    wait
    tell run "$what"
    awk '{ printf "  at most %.1f MiB of disk at a time\n", $1 / 1024 }' "$dir/most"
}

children=$((tiny ? 60 : 6000))
whole "$children children" "$flame" mem -q -o "$dir/x.folded" -- "$dir/forks" "$children"

mkdir "$dir/equal"
"$flame" mem -q -o "$dir/t.flame" -- "$dir/forks" 1 >"$dir/out"
traces=$((tiny ? 20 : 2000))
for ((i = 0; i < traces; i++)); do ln "$dir/t.flame" "$dir/equal/$i.flame"; done
rm -f "$dir/fold"
once fold "$flame" fold -o "$dir/x.folded" "$dir"/equal/*.flame
tell fold "folding $traces equal traces"
rm -r "$dir/equal"

[ -n "${CONFIGURE:-}" ] || exit 0
# CPU seconds of a run in an empty directory, and by the clock.
configure() { # NAME COMMAND...
    local name=$1 start
    shift
    rm -rf "$dir/tree"
    mkdir "$dir/tree"
    start=${EPOCHREALTIME/./}
    (cd "$dir/tree" && /usr/bin/time -o "$dir/cpu" -f '%U %S' "$@" >/dev/null 2>&1)
    us=$((${EPOCHREALTIME/./} - start)) awk 'END { print $1 + $2, ENVIRON["us"] / 1e6 }' \
        "$dir/cpu" >>"$dir/$name"
}
rm -f "$dir/plain" "$dir/flame"
for ((i = 0; i < rounds; i++)); do
    configure plain "$CONFIGURE"
    configure flame "$flame" mem -q -o "$dir/x.svg" -- "$CONFIGURE"
done
for of in 1:CPU '2:by the clock'; do
    paste -d' ' <(cut -d' ' -f"${of%%:*}" "$dir/flame") <(cut -d' ' -f"${of%%:*}" "$dir/plain") |
        awk '{ print ($2 > 0 ? $1 / $2 : 1) }' | spread | what=${of#*:} plain=$(column plain "${of%%:*}" | cut -d' ' -f1) awk \
        '{ printf "configure, %.1f s, %s: %.2f times as long, drawing included  (%.2f to %.2f)\n",
           ENVIRON["plain"], ENVIRON["what"], $1, $2, $3 }'
done
