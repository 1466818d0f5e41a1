#!/bin/bash
# flame leak: exit 23 when more is live than allowed, else the command's own.
. "${0%/*}/../lib.sh"

compile_victim keeper

run_expect_status 0 'nothing live' "$FLAME" leak --live ./keeper drop:100:5
not_ok 'no picture' test -e leak.svg
file_has err '0 bytes live at the end in 0 blocks, 0 allowed' 'and it says so'
run_expect_status 0 'nothing live, quietly' "$FLAME" leak --live -q ./keeper drop:100:5
is_str "$(cat err)" '' 'nothing is said'

run_expect_status 23 'one byte live' "$FLAME" leak --live ./keeper keep:1
ok 'the picture is there' test -s leak.svg
file_has leak.svg keep_block 'and shows who'
run_expect_status 23 'several' "$FLAME" leak --live -q -o l.folded ./keeper keep:2000:3 hold:64 drop:999
file_has err '6,064 bytes live at the end in 4 blocks, 0 allowed' 'how much'
is_str "$(grep -c ', live: ' err)" 2 'two stacks'
like "$(grep -m1 ', live: ' err)" '6,000 bytes in 3 blocks, live: keep_block .*keeper\.c:[0-9]+ \(keeper\)$' \
    'the largest first, with the line that allocated'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' l.folded)" 6064 '-o takes folded text too'

run_expect_status 0 'as much as is allowed' "$FLAME" leak --live --max-bytes 6064 ./keeper keep:2000:3 keep:64
run_expect_status 23 'one byte more' "$FLAME" leak --live --max-bytes 6063 ./keeper keep:2000:3 keep:64
run_expect_status 0 'k is 1024' "$FLAME" leak --live --max-bytes 6k ./keeper keep:6144
run_expect_status 23 'and not more' "$FLAME" leak --live --max-bytes 6K ./keeper keep:6145
for bad in -1 x 1x 99999999999999999999 17179869184g ''; do
    run_expect_status 2 "--live --max-bytes '$bad' is refused" "$FLAME" leak --live "--max-bytes=$bad" ./keeper
done

rm -f leak.svg
run_expect_status 5 "the command's own failure comes first" "$FLAME" leak --live ./keeper keep:10 exit:5
file_has err '10 bytes live' 'leaks are still reported'
ok 'with their picture' test -s leak.svg
run_expect_status 143 'so does a signal' "$FLAME" leak --live ./keeper keep:10 signal:15

run_expect_status 23 'a leak of a child' "$FLAME" leak --live -- sh -c './keeper keep:4321; true'
file_has err '4,321 bytes' 'is listed'
run_expect_status 23 'a forked child' "$FLAME" leak --live -o l.folded ./keeper keep:100 fork keep:20
file_has err '120 bytes live at the end in 2 blocks' "has its parent's blocks only once"
is_int "$(awk '!/^#/ { s += $NF } END { print s }' l.folded)" 120 'in the picture too'

is_int "$(for n in 1 2 3 4 5 6 7; do echo "keep:$n"; done |
    xargs "$FLAME" leak --live -o l.folded ./keeper 2>&1 | grep -c ', live: ')" 1 'one stack is listed once'

run_expect_status 2 'a missing command' "$FLAME" leak --live no-such-command
run_expect_status 2 '--view is not for leak' "$FLAME" leak --live --view peak ./keeper

done_testing
