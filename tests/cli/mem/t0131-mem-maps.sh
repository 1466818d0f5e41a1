#!/usr/bin/env bash
# Mappings that a program makes itself: exact to the page for any sequence of calls, by stack and by kind, and
# none of them in the views of blocks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim maps -pthread
page=$(getconf PAGESIZE)

# "map_file;[file] 8192": the last function below main, and the kind of mapping.
ends() {
    fview "$1" "${2:-$SCRATCH/t.flame}" | sed -n 's/.*;\([^;]*;\[[a-z ]*\]\) /\1 /p' |
        awk '{ n[substr($0, 1, length($0) - length($NF) - 1)] += $NF }
            END { for (s in n) printf "%s %d\n", s, n[s] }' | sort
}

record "" ./maps known
is_str "$status$(cat out err)" 0 'maps known ends with status 0'
is_str "$(ends mmap)" "map_anonymous;[anonymous memory] $((78 * page))
map_file;[file] $((2 * page))
map_shared;[shared memory] $((3 * page))
map_stack;[stack] $((4 * page))
move_break;[program break] 600
resize;[anonymous memory] $((300 * page))" 'maps known: the mappings at the end'
is_str "$(ends brk)" 'move_break;[program break] 600' 'maps known: the program break'
is_str "$(ends unmapped)" "map_anonymous;[anonymous memory] $((23 * page))
move_break;[program break] 400" 'maps known: mappings that were unmapped, mapped over or moved'
is_str "$(fview alloc)$(fview live)" '' 'maps known: mappings are not in the views of blocks'
is_int "$("$FLAME" dump t.flame | awk '/^row .*flags=mapped/ { split($0, a, "alloc_calls=")
    n += a[2] } END { print n }')" 7 'maps known: seven calls made mappings'
is_str "$("$FLAME" dump t.flame | sed -n 's/^node .*mapping=//p' | sort -u | tr '\n' ' ')" \
    'anonymous break file shared stack ' 'dump names the kinds of mappings'

for seed in 1 2 3 4 5; do
    record "" ./maps random "$seed"
    is_str "$(tail -1 out)" 'kernel agrees' \
        "random mappings, seed $seed: the program's own count agrees with the kernel"
    is_str "$(fview mmap | sed 's/;\[[^];]*\] / /; s/.*;//' | sort)" \
        "$(grep -v '^kernel\| 0$' out | sort)" "random mappings, seed $seed: the trace agrees with the program"
done

record "" ./maps threads
is_str "$(ends mmap)" "map_anonymous;[anonymous memory] $((12 * page))" 'mappings of threads: those that each has kept'
is_str "$(ends unmapped)" "map_anonymous;[anonymous memory] $((40000 * page))" \
    'mappings of threads: those that each has unmapped'

run "$FLAME" mem -q --view mmap -o f.folded -- ./maps fork
is_str "$(sed -n 's/.*;\([^;]*;\[[a-z ]*\]\) /\1 /p' f.folded | sort)" \
    "map_anonymous;[anonymous memory] $((5 * page))
map_shared;[shared memory] $((7 * page))" "a child's mappings count for itself, not for its parent"

# A program that maps nothing itself has an empty view, and its page lacks that view.
run "$FLAME" mem -q --view mmap -o n.folded -- ./maps
is_str "$status$(cat err)$(cat n.folded)" '2# flame: view=mmap unit=bytes' \
    "flame mem --view mmap without mappings: the command's status and an empty view"
record "" ./maps
run "$FLAME" render -o all.speedscope.json t.flame
file_lacks all.speedscope.json mapped 'render of all views leaves out mmap without mappings'

# An off-CPU trace has no such view.
run "$FLAME" off -q -o w.flame -- true
run_expect_status 2 'fold --view mmap of an off-CPU trace ends with status 2' "$FLAME" fold --view mmap w.flame
done_testing
