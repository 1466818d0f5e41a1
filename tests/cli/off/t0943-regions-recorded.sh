#!/bin/bash
# Regions that a program marks itself (preload/flamemem.h) come into recordings of waiting: their
# times, under flame off and under both recorders at once.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim markedregions -pthread

run_expect_status 0 'alone nothing is there to be told' ./markedregions names

# Field F of the regions called NAME.
field() {
    "$FLAME" dump -s region t.flame | grep " name=$1 " | sed -nE "s/.* $2=([0-9a-z]+).*/\\1/p"
}

off ./markedregions plain
is_int "$status" 0 'a program with regions runs'
is_int "$(field inner is | grep -c tag)" 2 'a region that was open twice'
is_int "$(field outer is | grep -c tag)" 1 'and the one around it'
is_int "$(field pass is | grep -c pass)" 4 'five marks are four passes'
is_int "$(field '[a-z]*' cut | grep -c 1)" 0 'all have ended by themselves'

# Each lies within what the program says by the same clock.
# shellcheck disable=SC2317 # called by ok
within() {
    paste <(grep "^$1 " out | cut -d' ' -f2,3) <(field "$1" begin_ns) <(field "$1" end_ns) |
        awk '{ if ($3 < $1 || $4 > $2 || $4 - $3 < 20000000) bad++ } END { exit !NR || bad }'
}
ok 'regions begin and end when the program says' within inner
ok 'and so does the one around' within outer

off ./markedregions threads
is_str "$(field first thread | sort -u | wc -l) $(field second thread | sort -u | wc -l)" '1 1' \
    'each thread has its own'
ok 'and they are two' test "$(field first thread)" != "$(field second thread)"

off ./markedregions left
"$FLAME" dump -s region t.flame >out
file_has out ' name=left\\x20open .* cut=1 | name="?left open"? .* cut=1 ' 'what is not ended is cut'
is_int "$(field parent cut)" 0 'a fork does not end its parent'"'"'s'
is_int "$(field child cut)" 0 'nor begins with them'
is_int "$(field deep is | wc -l)" 32 'regions nest 32 deep'

off ./markedregions names
"$FLAME" dump -j -s region t.flame >out
is_int "$(grep -o '"name":' out | wc -l)" 4 'names of any bytes'
file_has out "$(printf 'x%.0s' {1..255})\"" 'are cut at 255'
file_has out '"unnamed"' 'or none'
file_has out '"12345678"' 'and whole where they fill a word'

# Both recorders: each has them, and the program calls one function.
run timeout 60 "$FLAME" run -q -o run.flame ./markedregions plain
is_int "$status" 0 'both recorders'
cp run.off.flame t.flame
is_int "$(field inner is | wc -l)" 2 'the trace of waiting has the regions'
ok 'with their times' within inner
"$FLAME" fold --no-header --view alloc run.flame >folded
file_has folded '\[tag: outer\];' 'and stacks of memory the tags'
is_int "$("$FLAME" dump -s mark run.flame | grep -c '^mark .*name=pass ')" 5 'and the marks'

done_testing
