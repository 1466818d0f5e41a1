#!/usr/bin/env bash
# Mappings that a program makes itself: exact to the page under any calls, by stack and by kind, and
# none of them in the views of blocks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim maps -pthread

# "map_file;[file] 8192": below main, what stands right above.
ends() {
    fview "$1" "${2:-$SCRATCH/t.flame}" | sed -n 's/.*;\([^;]*;\[[a-z ]*\]\) /\1 /p' |
        awk '{ n[substr($0, 1, length($0) - length($NF) - 1)] += $NF }
            END { for (s in n) printf "%s %d\n", s, n[s] }' | sort
}

record "" ./maps known
is_str "$status$(cat out err)" 0 'known calls: run'
is_str "$(ends mmap)" 'map_anonymous;[anonymous memory] 319488
map_file;[file] 8192
map_shared;[shared memory] 12288
map_stack;[stack] 16384
move_break;[program break] 600
resize;[anonymous memory] 1228800' 'what is mapped at the end'
is_str "$(ends brk)" 'move_break;[program break] 600' 'of it the program break'
is_str "$(ends unmapped)" 'map_anonymous;[anonymous memory] 94208
move_break;[program break] 400' 'what was mapped and unmapped, mapped over, moved'
is_str "$(fview alloc)$(fview live)" '' 'no blocks'
is_int "$("$FLAME" dump t.flame | awk '/^row .*flags=mapped/ { split($0, a, "alloc_calls=")
    n += a[2] } END { print n }')" 7 'seven calls mapped something'
is_str "$("$FLAME" dump t.flame | sed -n 's/^node .*mapping=//p' | sort -u | tr '\n' ' ')" \
    'anonymous break file shared stack ' 'the dump names what was mapped'

for seed in 1 2 3 4 5; do
    record "" ./maps random "$seed"
    is_str "$(tail -1 out)" 'kernel agrees' "random calls $seed: the program's own count is right"
    is_str "$(fview mmap | sed 's/;\[[^];]*\] / /; s/.*;//' | sort)" \
        "$(grep -v '^kernel\| 0$' out | sort)" 'and is what the trace says'
done

record "" ./maps threads
is_str "$(ends mmap)" 'map_anonymous;[anonymous memory] 49152' 'threads: what each has kept'
is_str "$(ends unmapped)" 'map_anonymous;[anonymous memory] 163840000' 'and what each gave back'

run "$FLAME" mem -q --view mmap -o f.folded -- ./maps fork
is_str "$(sed -n 's/.*;\([^;]*;\[[a-z ]*\]\) /\1 /p' f.folded | sort)" \
    'map_anonymous;[anonymous memory] 20480
map_shared;[shared memory] 28672' 'a child counts what it maps itself, and takes nothing from its parent'

# A program that maps nothing itself has mapped nothing, and its page no such view.
run "$FLAME" mem -q --view mmap -o n.folded -- ./maps
is_str "$status$(cat err)$(cat n.folded)" '2# flame: view=mmap unit=bytes' \
    'nothing mapped: the status is its own, the view empty'
record "" ./maps
run "$FLAME" render -o all.speedscope.json t.flame
file_lacks all.speedscope.json mapped 'nor among all views'

# Another recorder's trace has no such view.
run "$FLAME" off -q -o w.flame -- true
run_expect_status 2 'waits have none' "$FLAME" fold --view mmap w.flame
done_testing
