#!/bin/bash
# GHC's profiles of cost centres: no folded stacks, exact with -P, and without it the percentages
# of what the whole program took. The sums are those of the table at the head of the same file.
. "${0%/*}/../lib.sh"
corpus=$ROOT/tests/corpus/ghc

table() { # FILE COLUMN-FROM-THE-END: what the table has for slowSum
    at=$2 awk '/^slowSum/ { print $(NF - ENVIRON["at"]) }' "$corpus/$1"
}
leaf() { awk '/;Main.slowSum / { n += $NF } END { print n }' out; }

for type in ticks bytes; do
    at=$([ $type = ticks ] && echo 1 || echo 0)
    run_expect_status 0 "GHC exact $type: collapse succeeds" "$FLAME" collapse --type $type "$corpus/ticks.prof"
    is_str "$(cat err)" '' "GHC exact $type: nothing on standard error"
    is_int "$(leaf)" "$(table ticks.prof "$at")" "GHC exact $type: as in the table of the file"
done
is_int "$(awk '{ n += $NF } END { print n }' out)" "$(sed -n 's/^.*total alloc = *\([0-9,]*\) bytes.*/\1/p' "$corpus/ticks.prof" | tr -d ,)" \
    'GHC: the sum of bytes is that of the file'
is_str "$(tail -1 out | sed 's/ .*//')" 'MAIN;Main.main' 'GHC: names have their modules, MAIN once'
run_expect_status 0 'GHC percentages: collapse succeeds' "$FLAME" collapse "$corpus/percent.prof"
like "$(cat err)" 'ticks is counted, --type picks another \(bytes, entries\)' \
    'GHC percentages: the other types are named'
ticks=$(sed -n 's/.*(\([0-9]*\) ticks @.*/\1/p' "$corpus/percent.prof")
is_str "$(leaf)" "$(part=$(table percent.prof 1) all=$ticks awk 'BEGIN { printf "%.10g", ENVIRON["part"] * ENVIRON["all"] / 100 }')" \
    'GHC percentages: ticks are computed from the total'
"$FLAME" collapse --type entries "$corpus/percent.prof" >out
is_str "$(tail -1 out)" 'MAIN;Main.CAF;Main.main;Main.slow;Main.slowSum 1' 'GHC: --type entries'
"$FLAME" collapse --srcline --type ticks "$corpus/ticks.prof" >out
ok 'GHC: --srcline' grep -qF ';Main.slow P.hs:5;Main.slowSum P.hs:5 ' out

head='COST CENTRE   MODULE SRC   no. entries  %time %alloc   %time %alloc  ticks  bytes'
prof() { printf '%s\n' '	Time and Allocation Profiling Report  (Final)' "$@" >x; }
prof "$head" '' 'MAIN          MAIN   <b>   1   0  0.0 0.0  0.0 0.0  0  7' ' two words    M      a:1   2   0  0.0 0.0  0.0 0.0  3  0' \
    '  λ;x         M      x y   3   0  0.0 0.0  0.0 0.0  18446744073709551615  0' 'what is this' ' no         M   x  1 0 0.0 0.0 0.0 x 1 2'
run_expect_status 0 'GHC: collapse of odd names succeeds' "$FLAME" collapse --type ticks x
is_str "$(cat out)" "$(printf '%s\n' 'MAIN;M.two words 3' 'MAIN;M.two words;M.λ:x 18446744073709551615')" \
    'GHC: odd names end at the column'
like "$(cat err)" '2 lines were not understood, the first is line 7: what is this' \
    'GHC: broken lines are reported'
prof '	total time  =        0.00 secs   (0 ticks @ 1000 us, 1 processor)' 'COST CENTRE   MODULE   no. entries  %time %alloc   %time %alloc' 'MAIN          MAIN     1   0  0.0 0.0  0.0 0.0'
run_expect_status 0 'GHC: collapse of a program without time and the column SRC succeeds' \
    "$FLAME" collapse --type ticks x
like "$(cat err)" 'the profile is empty' 'GHC: a program without time is an empty profile'
run_expect_status 2 'GHC: --type objects ends with status 2' \
    "$FLAME" collapse --type objects "$corpus/ticks.prof"
like "$(cat err)" "no values 'objects'; it has ticks, bytes, entries" 'GHC: --type objects lists the types'

done_testing
