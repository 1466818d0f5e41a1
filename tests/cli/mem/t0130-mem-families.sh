#!/usr/bin/env bash
# Thousands of forked children: each leaves a few kilobytes, copies no stack of its parent's,
# and still knows all it inherited.
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
ok "a short process with few stacks: 16 KiB" test "$(kilobytes t.flame)" -le 20

record "" ./family 3000 20000 50
is_int "$status" 0 "3,000 stacks, 20,000 blocks, 50 children: status"
is_str "$(cat err)" "" "nothing is said"
ok "the parent's trace is large" test "$(kilobytes t.flame)" -gt 500
is_int "$(find . -name "t.flame.*" | wc -l)" 50 "a trace for each child"
ok "a child's is small" test "$(kilobytes t.flame.*)" -le $((50 * 48))
is_int "$(sum live on t.flame)" 2000000 "the parent has its blocks"
is_int "$(sum live on t.flame.50)" 1999700 "a child all but what it freed of them, although it was killed"
is_int "$(sum peak on t.flame.50)" 1999700 "its peak is after that"
is_int "$(sum live child_work t.flame.50)" 1000 "and its own"
is_int "$(sum alloc on t.flame.50)" 0 "none of the inherited it allocated"
is_str "$(fview live t.flame.50 | grep ';on;' | sed 's/ [0-9]*$//' | md5sum)" \
    "$(fview live t.flame | grep ';on;' | sed 's/ [0-9]*$//' | md5sum)" "stacks are the parent's, whole"

mkdir moved
cp t.flame moved/first.flame
cp t.flame.50 moved/other.flame
rm t.flame
is_int "$(sum live on moved/other.flame)" 1999700 "traces that moved together find one another"
is_str "$(cat err)" "" "without a word"
rm moved/first.flame
is_int "$(sum live '\[inherited\]' moved/other.flame)" $((1999700 + 160000)) "a parent's that is gone: the numbers are there"
file_has err 'moved/other.flame: has blocks from before the fork whose stacks are in another trace, .*t.flame, that is not there' \
    "and what is missing is named"
is_int "$(sum live child_work moved/other.flame)" 1000 "its own stacks have names"
head -c 5000 t.flame.48 >t.flame
is_int "$(sum live '\[inherited\]' t.flame.50)" $((1999700 + 160000)) "another file under the parent's name is not taken for it"

record "" ./family 10 400 1 70
is_int "$status" 0 "70 generations: status"
is_int "$(find . -name "t.flame.*" | wc -l)" 70 "a trace for each"
is_int "$(sum live on t.flame.60)" $((40000 - 180 * 100)) "the sixtieth has what the first had, but for what was freed"
is_int "$(sum live child_work t.flame.60)" 60000 "and what those between left"
is_int "$(sum alloc child_work t.flame.60)" 1000 "one of them its own"
is_int "$(sum live child_work t.flame.70)" 1000 "behind the sixty-fourth nothing is inherited"
file_has err 't.flame.70: what it had from before its fork was not recorded' "which is said"

record inherit=0 ./family 10 400 1 2
is_int "$(sum live on t.flame.1)" 0 "inherit=0: nothing is inherited"
is_int "$(sum live child_work t.flame.1)" 1000 "the own blocks are there"
is_int "$(sum peak child_work t.flame.2)" 1000 "and the own peak"
file_has err 't.flame.2: what it had from before its fork was not recorded' "which is said"

record sample=1000 ./family 10 20000 1
n=$(sum live on t.flame.1)
is_int "$(((n + 500000) / 1000000))" 2 "sampled: an estimate of what was inherited"
done_testing
