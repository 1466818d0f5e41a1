#!/bin/bash
# kept.sh: the cost of finding who keeps memory (flame mem --kept).
#
#     bench/kept.sh
#
# A program with a hash table of 100,000 and a million blocks: its run without a recorder, recorded,
# and recorded with --kept, up to the picture; how long another thread of it stands while it asks for a
# snapshot, and while flame mem -p --kept or gdb's gcore looks from outside. Other tools that say who
# keeps native memory are not known; gcore is what one would take the heap out with. Turn by turn:
# the median, the smallest and the largest. ROUNDS (5) times each. `make bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"
export TMPDIR=$dir

"${CC:-gcc}" -O1 -fno-builtin -pthread -I"$root" -o "$dir/keeping" "$root/bench/keeping.c"
gcore=$(type -P gcore) || echo "  no gcore (of gdb) to compare with"

milliseconds() { # NAME COLUMN WHAT
    column "$1" "$2" | what=$3 awk \
        '{ printf "  %-52s %8.1f ms  (%.1f to %.1f)\n", ENVIRON["what"], $1, $2, $3 }'
}

mebibytes() { # NAME COLUMN WHAT: of KiB
    column "$1" "$2" | what=$3 awk \
        '{ printf "  %-52s %8.1f MiB (%.1f to %.1f)\n", ENVIRON["what"], $1 / 1024, $2 / 1024, $3 / 1024 }'
}

slower() { # NAME WHAT: than plain, turn by turn
    paste -d' ' "$dir/$1" "$dir/plain" | awk '{ print $1 / $3 }' | spread | what=$2 awk \
        '{ printf "  %-52s %8.2f times as long  (%.2f to %.2f)\n", ENVIRON["what"], $1, $2, $3 }'
}

# A line of $dir/NAME: milliseconds for which a thread stands while a command looks at the program, and the command's
# memory in KiB.
outside() { # NAME N COMMAND...: PID becomes the program's id
    local name=$1 n=$2 ready pid
    shift 2
    coproc program { exec "$dir/keeping" "$n" outside; }
    # shellcheck disable=SC2154 # coproc's; it is unset when the program has ended
    pid=$program_PID
    read -r ready <&"${program[0]}"
    [ "$ready" = ready ]
    /usr/bin/time -o "$dir/kib" -f %M "${@//PID/$pid}" >"$dir/out" 2>"$dir/err" || {
        echo "  $1: $(tail -n 1 "$dir/err")"
        rm -f "$dir/$name"
        : >"$dir/$name.off"
    }
    echo on >&"${program[1]}"
    read -r ready <&"${program[0]}"
    [ -e "$dir/$name.off" ] || echo "$ready $(tail -n 1 "$dir/kib")" >>"$dir/$name"
    wait "$pid" || true
}

for n in ${tiny:+1000} ${tiny:-100000 1000000}; do
    rm -f "$dir"/{plain,recorded,kept,now,from_outside,gcore}*
    for ((i = 0; i < rounds; i++)); do
        once plain "$dir/keeping" "$n"
        once recorded "$flame" mem -q -o "$dir/x.svg" -- "$dir/keeping" "$n"
        once kept "$flame" mem -q --kept -o "$dir/x.svg" -- "$dir/keeping" "$n"
        mkdir "$dir/shots"
        "$flame" mem -q --kept --snapshots "$dir/shots" -o "$dir/x.svg" -- "$dir/keeping" "$n" now >>"$dir/now"
        rm -rf "$dir/shots"
        [ -e "$dir/from_outside.off" ] ||
            outside from_outside "$n" "$flame" mem -p PID -d 0.1 --kept -o "$dir/x.svg"
        [ -z "$gcore" ] || [ -e "$dir/gcore.off" ] || outside gcore "$n" "$gcore" -o "$dir/core" PID
        core=$(stat -c %s "$dir"/core.* 2>/dev/null | tail -n 1)
        rm -f "$dir"/core.*
    done
    echo "$(column plain 1) $(column plain 2)" | n=$n awk \
        '{ printf "%d blocks: the run takes %.3f s  (%.3f to %.3f), %.1f MiB\n", ENVIRON["n"], $1, $2, $3, $4 / 1024 }'
    slower recorded 'flame mem, up to the picture'
    slower kept 'flame mem --kept, up to the picture'
    mebibytes kept 2 'memory of that, at most of one process'
    milliseconds now 2 'a snapshot with --kept: another thread stands'
    milliseconds now 1 'the thread that asks waits'
    [ ! -s "$dir/from_outside" ] || {
        milliseconds from_outside 1 'flame mem -p --kept: a thread stands'
        mebibytes from_outside 2 'memory of that, at most of one process'
    }
    [ ! -s "$dir/gcore" ] || milliseconds gcore 1 "gcore, a file of ${core:-?} bytes: a thread stands"
done
