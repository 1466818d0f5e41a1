#!/usr/bin/env bash
# flame mem --libc-mappings: what the C library maps inside itself, to the page, by the program's call that
# made it do so.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim grows -pthread
compile_victim maps -pthread

# NAME BYTES for each of the program's functions that something ends in.
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
is_str "$status$(grep 'is not seen' err)" 0 'a program that grows'
by_function mmap t.flame >mapped
is_str "$(grep -v '^main\|^begin_' mapped)" "$(said free_in_thread grow_heap in_thread own_map)" \
    'the heap, arenas and an own mapping are what the program knows of them'
file_lacks err 'could not be counted' 'and nothing is lost'
stack=$(sed -n 's/^begin_thread //p' mapped)
ok 'so is the stack of a thread, with its guard' test $((stack - 262144)) -ge 4096 -a \
    $((stack - 262144)) -le 8192
is_str "$(by_function unmapped t.flame)" "$(said have_and_give have_big have_bigger)" \
    'what is mapped for a block is unmapped with it, and moves with realloc'
is_str "$(fview mmap t.2.flame | sed 's/.*;\(\[.*\)/\1/')" "[allocator] $(said child | sed 's/.* //')" \
    'a forked child counts what it makes the heap grow itself'
is_str "$(fview mmap t.flame | sed -n 's/.*;\(\[[a-z ]*\]\) .*/\1/p' | sort -u | tr '\n' ' ')" \
    '[allocator] [anonymous memory] [stack] ' 'each is told as what it is'

run "$FLAME" mem -q -o t.flame -- ./grows 3>said
is_str "$(by_function mmap)" "$(said own_map)" 'without --libc-mappings the own mapping alone'
"$FLAME" mem -q -o b.flame -- ./grows 3>said
"$FLAME" mem -q --libc-mappings -o a.flame -- ./grows 3>said
for view in alloc count live peak; do
    is_str "$(fview $view a.flame)" "$(fview $view b.flame)" "view $view is the same with it"
done

# The program's own calls are told as without it, which t0131 holds against the kernel.
for seed in 1 2 3; do
    run "$FLAME" mem -q --libc-mappings -o t.flame -- ./maps random "$seed"
    is_str "$(tail -1 out)" 'kernel agrees' "random calls $seed: the program's own count is right"
    is_str "$(fview mmap | grep -v ';\[allocator\] ' | sed 's/;\[[^];]*\] / /; s/.*;//' | sort)" \
        "$(grep -v '^kernel\| 0$' out | sort)" 'and is what the trace says'
done
run "$FLAME" mem -q --libc-mappings -o t.flame -- ./maps threads
is_str "$(fview mmap | grep -c 'map_anonymous;\[anonymous memory\]')" 1 'threads that map'
is_str "$(fview unmapped | sed -n 's/.*map_anonymous;\[anonymous memory\] //p')" 163840000 'and unmap'

# An allocator that calls mmap by its name.
if jemalloc=$(ldconfig -p | sed -n 's/.*libjemalloc\.so\.2 .*=> //p' | head -1) && [ -n "$jemalloc" ]; then
    run env LD_PRELOAD="$jemalloc" "$FLAME" mem -q --libc-mappings -o t.flame -- \
        ./grows 3>said
    is_int "$status" 0 'with jemalloc'
    ok 'what it maps is the [allocator]' test "$(fview mmap | grep '\[allocator\]' | awk '{ n += $NF } END { print n + 0 }')" -ge 8000000
    is_str "$(fview mmap | grep -c 'own_map;\[anonymous memory\] 20480')" 1 'and the program its own'
else
    skip jemalloc 'there is no libjemalloc'
fi

# A list that is none, of another library, or of this one and damaged.
printf 'no list' >bad
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=$SCRATCH/t.flame:sites=$SCRATCH/bad" ./maps known
is_int "$status" 0 'a list that is none: the program runs on'
file_has err 'inside itself is not seen: its list of calls cannot be read$' 'and a line says what is missing'
run "$FLAME" off --in-process -q -o x.folded -- "$FLAME" mem -q --libc-mappings -o t.flame -- ./maps known
is_int "$status" 0 'beside the recorder of waits that patches, too'

run_expect_status 0 'by its old name' "$FLAME" mem -q --inside -o o.flame -- ./maps known
"$FLAME" mem -q --libc-mappings -o n.flame -- ./maps known >/dev/null
is_str "$("$FLAME" fold --no-header --view mmap o.flame)" "$("$FLAME" fold --no-header --view mmap n.flame)" \
    'the option does the same'
done_testing
