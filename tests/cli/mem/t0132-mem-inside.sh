#!/usr/bin/env bash
# flame mem --libc-mappings: mappings that the C library makes for itself, to the page, by the program's call that
# caused them.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim grows -pthread
compile_victim maps -pthread

# NAME BYTES for each function of the program that is the last in a stack.
by_function() {
    fview "$@" | sed 's/;mmap\(64\)*;.*\(;\[[a-z ]*\] [0-9]*\)$/\2/; s/;pthread_create.*;\(\[[a-z ]*\] \)/;\1/' |
        sed -n 's/.*;\([^;]*\);\[[a-z ]*\] \([0-9]*\)$/\1 \2/p' | sort
}
said() {
    local name
    for name in "$@"; do
        grep "^$name " said
    done
}

run "$FLAME" mem --libc-mappings -o t.flame -- ./grows 3>said
is_str "$status$(grep 'is not seen' err)" 0 'flame mem --libc-mappings of grows ends with status 0'
by_function mmap t.flame >mapped
is_str "$(grep -v '^main\|^begin_' mapped)" "$(said free_in_thread grow_heap in_thread own_map)" \
    "--libc-mappings: heap, arenas and the program's own mapping are as it prints"
file_lacks err 'could not be counted' '--libc-mappings: no mapping is lost'
stack=$(sed -n 's/^begin_thread //p' mapped)
ok "--libc-mappings: a thread's stack counts with its guard page" test $((stack - 262144)) -ge 4096 -a \
    $((stack - 262144)) -le 8192
is_str "$(by_function unmapped t.flame)" "$(said have_and_give have_big have_bigger)" \
    "--libc-mappings: a large block's mapping goes with it and moves with realloc"
is_str "$(fview mmap t.flame/2 | sed 's/.*;\(\[.*\)/\1/')" "[allocator] $(said child | sed 's/.* //')" \
    "--libc-mappings: a child's growth of the heap counts for the child"
is_str "$(fview mmap t.flame | sed -n 's/.*;\(\[[a-z ]*\]\) .*/\1/p' | sort -u | tr '\n' ' ')" \
    '[allocator] [anonymous memory] [stack] ' '--libc-mappings: each mapping has its kind'

run "$FLAME" mem -q -o t.flame -- ./grows 3>said
is_str "$(by_function mmap)" "$(said own_map)" \
    "flame mem without --libc-mappings counts the program's own mapping alone"
"$FLAME" mem -q -o b.flame -- ./grows 3>said
"$FLAME" mem -q --libc-mappings -o a.flame -- ./grows 3>said
for view in alloc count live peak; do
    is_str "$(fview $view a.flame)" "$(fview $view b.flame)" \
        "view $view is the same with and without --libc-mappings"
done

# The program's own calls count as without it, which t0131 compares with the kernel.
for seed in 1 2 3; do
    run "$FLAME" mem -q --libc-mappings -o t.flame -- ./maps random "$seed"
    is_str "$(tail -1 out)" 'kernel agrees' \
        "--libc-mappings, random mappings, seed $seed: the program's own count agrees with the kernel"
    is_str "$(fview mmap | grep -v ';\[allocator\] ' | sed 's/;\[[^];]*\] / /; s/.*;//' | sort)" \
        "$(grep -v '^kernel\| 0$' out | sort)" \
        "--libc-mappings, random mappings, seed $seed: the trace agrees with the program"
done
run "$FLAME" mem -q --libc-mappings -o t.flame -- ./maps threads
is_str "$(fview mmap | grep -c 'map_anonymous;\[anonymous memory\]')" 1 \
    '--libc-mappings: mappings of threads count'
is_str "$(fview unmapped | sed -n 's/.*map_anonymous;\[anonymous memory\] //p')" 163840000 \
    '--libc-mappings: munmap calls of threads count'

# An allocator that calls mmap by its name.
if jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -1) && [ -n "$jemalloc" ]; then
    run env LD_PRELOAD="$jemalloc" "$FLAME" mem -q --libc-mappings -o t.flame -- \
        ./grows 3>said
    is_int "$status" 0 'flame mem --libc-mappings with jemalloc ends with status 0'
    ok "--libc-mappings: jemalloc's mappings are [allocator]" \
        test "$(fview mmap | grep '\[allocator\]' | awk '{ n += $NF } END { print n + 0 }')" -ge 8000000
    is_str "$(fview mmap | grep -c 'own_map;\[anonymous memory\] 20480')" 1 \
        "--libc-mappings with jemalloc: the program's own mapping counts"
else
    skip jemalloc 'there is no libjemalloc'
fi

# A list of call sites that is invalid, of another library, or damaged.
printf 'no list' >bad
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/t.flame:sites=$SCRATCH/bad" ./maps known
is_int "$status" 0 'an invalid list of call sites: the program runs on'
file_has err 'inside itself is not seen: its list of calls cannot be read$' \
    "an invalid list of call sites: a line says that libc's mappings are missing"
run "$FLAME" off --in-process -q -o x.folded -- "$FLAME" mem -q --libc-mappings -o t.flame -- ./maps known
is_int "$status" 0 '--libc-mappings works beside flame off --in-process, which patches too'

run_expect_status 0 'flame mem --inside succeeds' "$FLAME" mem -q --inside -o o.flame -- ./maps known
"$FLAME" mem -q --libc-mappings -o n.flame -- ./maps known >/dev/null
is_str "$("$FLAME" fold --no-header --view mmap o.flame)" "$("$FLAME" fold --no-header --view mmap n.flame)" \
    'flame mem --inside is an alias of --libc-mappings'
done_testing
