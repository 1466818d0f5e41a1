#!/bin/bash
# inside.sh: cost of logging waits in-process, beside flame off and strace.
#
#     make bench-inside
#
# Two threads wake each other (bench/pingpong.c), all on one processor, or on two. Nanoseconds a
# round, by the program's own clock: the median, the smallest and the largest, then the ratio to
# plain, turn by turn. `noted`: the library, and a reader that drains its rings every 2 ms;
# `sleeps`: with the state machine of flame off after the reader; `inside`: flame off --in-process.
# ROUNDS (5) times each.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"

noted=${O:-build}/bench/inside
library=$(realpath "$(dirname "$flame")/libflamewait.so")
"${CC:-gcc}" -O2 -pthread -o "$dir/pingpong" "$root/bench/pingpong.c"
uptime

# A line of $dir/NAME.
measure() { # NAME COMMAND...
    local name=$1
    shift
    "$@" 2>/dev/null | tail -n 1 >>"$dir/$name"
}

line() { # NAME WHAT
    echo "$(column "$1" 1) $(paste -d' ' "$dir/$1" "$dir/plain" | awk '{ print $1 / $2 }' | spread)" |
        what=$2 awk '{ printf "  %-28s %7.0f ns  (%.0f to %.0f)   %.2fx (%.2f to %.2f)\n",
            ENVIRON["what"], $1, $2, $3, $4, $5, $6 }'
}

strace=$(type -P strace || :)
for where in one two; do
    for how in futex pipe; do
        pin=(taskset -c 0)
        [ "$where" = one ] || pin=(taskset -c '0,1')
        many=$((tiny ? 50 : 100000)) few=$((tiny ? 50 : 5000))
        rm -f "$dir"/{plain,noted,sleeps,inside,off,strace}
        for ((i = 0; i < rounds; i++)); do
            measure plain "${pin[@]}" "$dir/pingpong" $how $many
            measure noted "${pin[@]}" "$noted" "$library" "$dir/pingpong" $how $many
            measure sleeps "${pin[@]}" "$noted" -m "$library" "$dir/pingpong" $how $many
            measure inside "${pin[@]}" "$flame" off --in-process -q \
                -o "$dir/x.folded" -- "$dir/pingpong" $how $many
            measure off "${pin[@]}" "$flame" off --no-in-process -q -o "$dir/x.folded" -- "$dir/pingpong" $how $few
            [ -z "$strace" ] || measure strace "${pin[@]}" "$strace" -f --seccomp-bpf -o /dev/null \
                -e trace=futex,read,write "$dir/pingpong" $how $few
        done
        echo "$how, on $where"
        line plain plain
        line noted 'noted from inside'
        line sleeps '  and made sleeps of'
        line inside 'flame off --in-process'
        line off 'flame off --no-in-process'
        [ -z "$strace" ] || line strace 'strace, no stacks'
    done
done
