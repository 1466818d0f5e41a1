#!/bin/bash
# Regions that a program marks itself (preload/flamemem.h) are in off-CPU recordings: their
# times, under flame off and under both recorders at once.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim markedregions -pthread

run_expect_status 0 'markedregions without flame succeeds' ./markedregions names

# Field F of the regions called NAME.
field() {
    "$FLAME" dump -s region t.flame | grep " name=$1 " | sed -nE "s/.* $2=([0-9a-z]+).*/\\1/p"
}

off ./markedregions plain
is_int "$status" 0 'flame off of a program with regions succeeds'
is_int "$(field inner is | grep -c tag)" 2 'a region that is open twice has two intervals'
is_int "$(field outer is | grep -c tag)" 1 'the enclosing region has one interval'
is_int "$(field pass is | grep -c pass)" 4 'five marks are four passes'
is_int "$(field '[a-z]*' cut | grep -c 1)" 0 'no region that ended is cut'

# Each region lies within the times that the program prints from the same clock.
# shellcheck disable=SC2317 # called by ok
within() {
    paste <(grep "^$1 " out | cut -d' ' -f2,3) <(field "$1" begin_ns) <(field "$1" end_ns) |
        awk '{ if ($3 < $1 || $4 > $2 || $4 - $3 < 20000000) bad++ } END { exit !NR || bad }'
}
ok 'the inner region begins and ends when the program says' within inner
ok 'the outer region begins and ends when the program says' within outer

off ./markedregions threads
is_str "$(field first thread | sort -u | wc -l) $(field second thread | sort -u | wc -l)" '1 1' \
    'each thread has its own regions'
ok 'regions of two threads name two threads' test "$(field first thread)" != "$(field second thread)"

off ./markedregions left
"$FLAME" dump -s region t.flame >out
file_has out ' name=left\\x20open .* cut=1 | name="?left open"? .* cut=1 ' 'a region that does not end is cut'
is_int "$(field parent cut)" 0 "a fork does not end its parent's regions"
is_int "$(field child cut)" 0 "a child of fork does not begin with its parent's regions"
is_int "$(field deep is | wc -l)" 32 'regions nest 32 deep'

off ./markedregions names
"$FLAME" dump -j -s region t.flame >out
is_int "$(grep -o '"name":' out | wc -l)" 4 'names of regions may have any bytes'
file_has out "$(printf 'x%.0s' {1..255})\"" 'names of regions are cut at 255 bytes'
file_has out '"unnamed"' 'a region without a name is unnamed'
file_has out '"12345678"' "a region's name of eight bytes is complete"

# Both recorders: each has them, and the program calls one function.
run timeout 60 "$FLAME" run -q -o run.flame ./markedregions plain
is_int "$status" 0 'flame run of a program with regions succeeds'
"$FLAME" pack -q -o t.flame run.flame/2
is_int "$(field inner is | wc -l)" 2 'flame run: the off-CPU trace has the regions'
ok 'flame run: regions have their times' within inner
"$FLAME" fold --no-header --view alloc run.flame >folded
file_has folded '\[tag: outer\];' 'flame run: stacks of memory have the tags'
is_int "$("$FLAME" dump -s mark run.flame | grep -c '^mark .*name=pass ')" 5 \
    'flame run: the memory trace has the marks'

done_testing
