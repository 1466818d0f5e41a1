#!/bin/bash
# Custom allocators that report their blocks (preload/flamemem.h): exact under any
# calls, by a model that the victim keeps; no byte counts twice and none is lost.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim pooler -pthread
run_expect_status 0 'pooler runs without libflamemem.so' ./pooler random 1 1

# "pool_one 300 3": live bytes of a function, and the number of its blocks.
ends() {
    for view in live count; do
        "$FLAME" fold --no-header --no-inline --view "$view" "${@:-t.flame}" |
            sed -nE "s/.*;(pool_[a-z]+|backing) ([0-9]+)\$/\\1 $view \\2/p"
    done | awk '{ n[$1 " " $2] += $3; f[$1] } END { for (i in f) print i, n[i " live"] + 0, n[i " count"] + 0 }' | sort
}

for threads in 1 3; do
    for seed in 1 2 3 4; do
        record "" ./pooler random "$seed" "$threads"
        sort out | sed 's/ [0-9]*$//' >want
        is_int "$(wc -l <want)" 4 "random pool calls, seed $seed in $threads threads: the model has four lines"
        is_str "$(ends | sed 's/ [0-9]*$//')" "$(cat want)" \
            "random pool calls, seed $seed in $threads threads: the trace agrees with the model"
        is_str "$("$FLAME" fold --no-header --no-inline --view peak t.flame | awk '{ n += $NF } END { print (n >= '"$(
            awk '{ n += $2 } END { print n }' out)"') }')" 1 \
            "random pool calls, seed $seed in $threads threads: the peak is at least the live bytes"
    done
done
# The second of two backings, with an arena's blocks in it, becomes another block.
record "" ./pooler odd
is_str "$(cat out)" 000 'invalid pool calls are refused'
is_str "$(ends)" 'backing 500 2
pool_one 0 3
pool_two 0 1' "a pool's block that is passed on counts once, and reuse ends the old block"
record "" ./pooler full
is_str "$(cat out)" 100001 "a pool's block that exceeds the rest of its pool is refused"
is_str "$(ends)" 'backing 2000 1
pool_one 0 1
pool_two 8000 1' 'a full pool counts no more than its memory'
record "" ./pooler forks
is_str "$(ends t.flame)" 'backing 9500 1
pool_one 500 5' "a child's pool calls do not change the parent's trace"
is_str "$("$FLAME" fold --no-header --no-inline --view live t.flame.1 | awk '{ n += $NF } END { print n }')" \
    "$("$FLAME" fold --no-header --no-inline --view live t.flame | awk '{ n += $NF } END { print n }')" \
    "a child has its parent's live bytes, a part of them allocated anew"
like "$("$FLAME" fold --no-header --no-inline --view live t.flame.1)" ';pool_two 55$' \
    "a child's pool block has the child's stack"
record "sample=1000" ./pooler random 5 1
is_str "$(fview live | grep -c ';pool_')" 0 'sample=1000 records no pools'

run_expect_status 23 'flame leak of pools ends with status 23' "$FLAME" leak -o l.flame -- ./pooler leaks
is_str "$("$FLAME" fold --no-header --no-inline --view leak l.flame |
    sed -nE 's/.*;(pool_[a-z]+|backing) ([0-9]+)$/\1 \2/p' | sort)" 'backing 9300
pool_one 700' 'a leaked pool: its blocks and the rest of it are leaks'
file_lacks err ' 500 bytes| 300 bytes' 'a pool with a pointer into it, and static memory, are no leaks'
is_str "$("$FLAME" fold --no-header --no-inline --view inner l.flame |
    sed -nE 's/.*;(pool_[a-z]+|backing) ([0-9]+)$/\1 \2/p' | sort)" 'backing 9500
pool_one 500' 'a pool with a pointer into its inside is reachable by that'
done_testing
