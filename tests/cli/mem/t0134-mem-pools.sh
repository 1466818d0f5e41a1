#!/bin/bash
# Allocators of a program's own that tell what they hand out (preload/flamemem.h): exact under any
# calls, by a model that the victim keeps; no byte twice and none lost.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim pooler -pthread
run_expect_status 0 'without the library the program runs' ./pooler random 1 1

# "pool_one 300 3": what is live of a function, and in how many blocks.
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
        is_int "$(wc -l <want)" 4 "random calls $seed in $threads threads: the model"
        is_str "$(ends | sed 's/ [0-9]*$//')" "$(cat want)" 'and the trace says the same'
        is_str "$("$FLAME" fold --no-header --no-inline --view peak t.flame | awk '{ n += $NF } END { print (n >= '"$(
            awk '{ n += $2 } END { print n }' out)"') }')" 1 'and the peak is no less'
    done
done
# The second of two backings, with an arena's blocks in it, becomes another block.
record "" ./pooler odd
is_str "$(cat out)" 000 'what is wrong is refused'
is_str "$(ends)" 'backing 500 2
pool_one 0 3
pool_two 0 1' 'a block that is passed on counts once, and what is handed out again ends what was there'
record "" ./pooler full
is_str "$(cat out)" 100001 'what does not fit into what the pool has left is refused'
is_str "$(ends)" 'backing 2000 1
pool_one 0 1
pool_two 8000 1' 'so no more is handed out than there is'
record "" ./pooler forks
is_str "$(ends t.flame)" 'backing 9500 1
pool_one 500 5' 'in the parent nothing has changed'
is_str "$("$FLAME" fold --no-header --no-inline --view live t.flame.1 | awk '{ n += $NF } END { print n }')" \
    "$("$FLAME" fold --no-header --no-inline --view live t.flame | awk '{ n += $NF } END { print n }')" \
    'a child has as much, of which it handed out anew'
like "$("$FLAME" fold --no-header --no-inline --view live t.flame.1)" ';pool_two 55$' 'by its own stack'
record "sample=1000" ./pooler random 5 1
is_str "$(fview live | grep -c ';pool_')" 0 'sampled, there are no pools'

run_expect_status 23 'leaks' "$FLAME" leak -o l.flame -- ./pooler leaks
is_str "$("$FLAME" fold --no-header --no-inline --view leak l.flame |
    sed -nE 's/.*;(pool_[a-z]+|backing) ([0-9]+)$/\1 \2/p' | sort)" 'backing 9300
pool_one 700' 'of a pool that nothing leads to: what it handed out, and the rest'
file_lacks err ' 500 bytes| 300 bytes' 'and not of one that something leads into, nor static memory'
is_str "$("$FLAME" fold --no-header --no-inline --view inner l.flame |
    sed -nE 's/.*;(pool_[a-z]+|backing) ([0-9]+)$/\1 \2/p' | sort)" 'backing 9500
pool_one 500' 'which is reached by its inside'
done_testing
