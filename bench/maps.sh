#!/bin/bash
# maps.sh: what recording costs a program that maps and unmaps memory without end.
#
#     bench/maps.sh [--million]
#
# bench/maps.c by mmap itself, and by malloc of blocks so large that each is mapped. CPU of the
# command and of all that records it, a pair of calls, and the time by the clock: the medians, the
# smallest and the largest, turn by turn. Beside plain: the library alone; flame mem, which counts by
# stack; with the C library seen from within (--libc-mappings), and by whose memory is touched; heaptrack's
# library, which does not see mmap; strace -e trace=memory, which has no stacks; and bpftrace with
# stacks, where it is there and the kernel lets it. The tracers run fewer pairs. ROUNDS (5) times each.
# `make bench` runs it, too.
# shellcheck source=bench/lib.sh
. "${0%/*}/lib.sh"
export TMPDIR=$dir

shim=${SHIM:-$(dirname "$flame")/libflamemem.so}
heaptrack=$(heaptrack_library)
strace=$(type -P strace || :)
bpftrace=$(type -P bpftrace || :)
if [ -n "$bpftrace" ] && ! "$bpftrace" -e 'tracepoint:syscalls:sys_enter_mmap { exit(); }' -c true >"$dir/out" 2>&1; then
    bpftrace=
    echo 'bpftrace: refused by the kernel'
fi
[ -n "$strace" ] || echo 'strace: not installed'
[ -n "$heaptrack" ] || echo 'heaptrack: not installed'
"${CC:-gcc}" -O2 -o "$dir/maps" "$root/bench/maps.c"
uptime

# A line of $dir/NAME: nanoseconds of CPU and by the clock, a pair.
measure() { # NAME PAIRS COMMAND...
    local name=$1 pairs=$2 wall
    shift 2
    wall=$(/usr/bin/time -o "$dir/cpu" -f '%U %S' "$@" 2>"$dir/err" | head -n 1)
    pairs=$pairs wall=$wall awk 'END { printf "%.0f %.0f\n", ($1 + $2) * 1e9 / ENVIRON["pairs"],
        ENVIRON["wall"] }' "$dir/cpu" >>"$dir/$name"
    rm -f "$dir"/raw.* "$dir"/x.*
}

line() { # NAME WHAT
    [ -e "$dir/$1" ] || return 0
    echo "$(column "$1" 1) $(paste -d' ' "$dir/$1" "$dir/plain" | awk '{ print ($3 > 0 ? $1 / $3 : 1) }' | spread) $(column "$1" 2)" |
        what=$2 awk '{ printf "  %-34s %7.0f ns of CPU  (%.0f to %.0f)   %.2fx (%.2f to %.2f)   %7.0f ns by the clock\n",
            ENVIRON["what"], $1, $2, $3, $4, $5, $6, $7 }'
}

many=$((tiny ? 200 : 50000)) few=$((tiny ? 50 : 4000))
for how in mmap malloc; do
    rm -f "$dir"/{plain,off,flame,inside,touched,heaptrack,strace,bpftrace}
    for ((i = 0; i < rounds; i++)); do
        measure plain $many "$dir/maps" $how $many
        measure off $many env LD_PRELOAD="$shim" FLAMEMEM_OPTIONS=record=0 "$dir/maps" $how $many
        measure flame $many "$flame" mem -q -o "$dir/x.flame" -- "$dir/maps" $how $many
        measure inside $many "$flame" mem --libc-mappings -q -o "$dir/x.flame" -- "$dir/maps" $how $many
        measure touched $many "$flame" mem --view touched -q -o "$dir/x.flame" -- "$dir/maps" $how $many
        [ -z "$heaptrack" ] || measure heaptrack $many env LD_PRELOAD="$heaptrack" \
            DUMP_HEAPTRACK_OUTPUT="$dir/raw.\$\$" "$dir/maps" $how $many
        [ -z "$strace" ] || measure strace $few "$strace" -f --seccomp-bpf -o /dev/null \
            -e trace=memory "$dir/maps" $how $few
        [ -z "$bpftrace" ] || measure bpftrace $many "$bpftrace" \
            -e 'tracepoint:syscalls:sys_enter_mmap /comm == "maps"/ { @[ustack] = sum(args->len); }' \
            -c "$dir/maps $how $many"
    done
    echo "a pair by $how"
    line plain plain
    line off 'flame, recording off'
    line flame 'flame, exact'
    line inside 'flame, exact, --libc-mappings'
    line touched 'flame, exact, --view touched'
    line heaptrack "heaptrack's library"
    line strace 'strace -e trace=memory, no stacks'
    line bpftrace 'bpftrace, mmap alone, with stacks'
done
