#!/usr/bin/env bash
# Thousands of forked children: each leaves a few kilobytes, copies no stack of its parent,
# and still knows all inherited blocks.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

sum() { # VIEW FUNCTION FILE
    fview "$1" "$3" 2>err | grep -E ";$2(;| )" | awk '{ n += $NF } END { print n + 0 }'
}

kilobytes() { # FILE...: on the disk
    du -k -c "$@" | awk 'END { print $1 }'
}

compile_victim family

record "" ./family 1 1 1
ok 'a short process with few stacks leaves at most 20 KiB' test "$(kilobytes t.flame)" -le 20

record "" ./family 3000 20000 50
is_int "$status" 0 'a family of 3,000 stacks, 20,000 blocks and 50 children ends with status 0'
is_str "$(cat err)" "" 'a family of 50 children prints no error'
ok "the parent's trace is large" test "$(kilobytes t.flame)" -gt 500
is_int "$(find . -name "t.flame.*" | wc -l)" 50 'each of 50 children leaves a trace'
ok "a child's trace is small" test "$(kilobytes t.flame.*)" -le $((50 * 48))
is_int "$(sum live on t.flame)" 2000000 "the parent's blocks are live"
is_int "$(sum live on t.flame.50)" 1999700 "a killed child's inherited blocks are live, except those it freed"
is_int "$(sum peak on t.flame.50)" 1999700 "a child's peak comes after its frees"
is_int "$(sum live child_work t.flame.50)" 1000 "a child's own blocks are live"
is_int "$(sum alloc on t.flame.50)" 0 'inherited blocks are no allocations of a child'
is_str "$(fview live t.flame.50 | grep ';on;' | sed 's/ [0-9]*$//' | md5sum)" \
    "$(fview live t.flame | grep ';on;' | sed 's/ [0-9]*$//' | md5sum)" \
    "stacks of inherited blocks are the parent's, complete"

mkdir moved
cp t.flame moved/first.flame
cp t.flame.50 moved/other.flame
rm t.flame
is_int "$(sum live on moved/other.flame)" 1999700 'traces that are moved together find one another'
is_str "$(cat err)" "" 'fold of traces that are moved together prints no error'
rm moved/first.flame
is_int "$(sum live '\[inherited\]' moved/other.flame)" $((1999700 + 160000)) \
    "inherited blocks count as [inherited] if the parent's trace is missing"
file_has err 'moved/other.flame: has blocks from before the fork whose stacks are in another trace, .*t.flame, that is not there' \
    'the missing trace of the parent is named'
is_int "$(sum live child_work moved/other.flame)" 1000 \
    "a child's own stacks have names if the parent's trace is missing"
head -c 5000 t.flame.48 >t.flame
is_int "$(sum live '\[inherited\]' t.flame.50)" $((1999700 + 160000)) \
    "another file with the name of the parent's trace is not used"

record "" ./family 10 400 1 70
is_int "$status" 0 'a family of 70 generations ends with status 0'
is_int "$(find . -name "t.flame.*" | wc -l)" 70 'each of 70 generations leaves a trace'
is_int "$(sum live on t.flame.60)" $((40000 - 180 * 100)) \
    "the sixtieth generation has the first one's blocks, except those freed"
is_int "$(sum live child_work t.flame.60)" 60000 'the sixtieth generation has the blocks of those between'
is_int "$(sum alloc child_work t.flame.60)" 1000 'the sixtieth generation has its own block'
is_int "$(sum live child_work t.flame.70)" 1000 'generations after the sixty-fourth inherit no block'
file_has err 't.flame.70: its blocks from before the fork were not recorded' \
    'fold says that generation 70 has no inherited blocks'

record inherit=0 ./family 10 400 1 2
is_int "$(sum live on t.flame.1)" 0 'inherit=0: a child inherits no block'
is_int "$(sum live child_work t.flame.1)" 1000 "inherit=0: a child's own blocks are live"
is_int "$(sum peak child_work t.flame.2)" 1000 "inherit=0: a child's peak has its own blocks"
file_has err 't.flame.2: its blocks from before the fork were not recorded' \
    'inherit=0: fold says that a child has no inherited blocks'

record sample=1000 ./family 10 20000 1
n=$(sum live on t.flame.1)
is_int "$(((n + 500000) / 1000000))" 2 'sample=1000: inherited bytes are estimated'
done_testing
