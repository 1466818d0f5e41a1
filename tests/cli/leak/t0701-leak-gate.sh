#!/bin/bash
# flame leak: status 23 when more is live than allowed, else the command's own.
. "${0%/*}/../lib.sh"

compile_victim keeper

run_expect_status 0 'flame leak --live without live blocks ends with status 0' \
    "$FLAME" leak --live ./keeper drop:100:5
not_ok 'flame leak --live without live blocks writes no picture' test -e leak.svg
file_has err '0 bytes live at the end in 0 blocks, 0 allowed' 'flame leak --live without live blocks says so'
run_expect_status 0 'flame leak --live -q without live blocks ends with status 0' \
    "$FLAME" leak --live -q ./keeper drop:100:5
is_str "$(cat err)" '' 'flame leak --live -q without live blocks prints nothing'

run_expect_status 23 'flame leak --live with one live byte ends with status 23' \
    "$FLAME" leak --live ./keeper keep:1
ok 'flame leak --live with one live byte writes a picture' test -s leak.svg
file_has leak.svg keep_block 'the picture of flame leak --live has the function'
run_expect_status 23 'flame leak --live -q with two stacks ends with status 23' \
    "$FLAME" leak --live -q -o l.folded ./keeper keep:2000:3 hold:64 drop:999
file_has err '6,064 bytes live at the end in 4 blocks, 0 allowed' \
    'flame leak --live prints the sum of live bytes'
is_str "$(grep -c ', live: ' err)" 2 'flame leak --live lists two stacks'
like "$(grep -m1 ', live: ' err)" '6,000 bytes in 3 blocks, live: keep_block .*keeper\.c:[0-9]+ \(keeper\)$' \
    'flame leak --live lists the largest stack first, with its source line'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' l.folded)" 6064 \
    'flame leak --live -o l.folded writes folded text'

run_expect_status 0 'flame leak --max-bytes equal to the live bytes ends with status 0' \
    "$FLAME" leak --live --max-bytes 6064 ./keeper keep:2000:3 keep:64
run_expect_status 23 'flame leak --max-bytes one byte less ends with status 23' \
    "$FLAME" leak --live --max-bytes 6063 ./keeper keep:2000:3 keep:64
run_expect_status 0 'flame leak --max-bytes 6k allows 6144 bytes' \
    "$FLAME" leak --live --max-bytes 6k ./keeper keep:6144
run_expect_status 23 'flame leak --max-bytes 6K does not allow 6145 bytes' \
    "$FLAME" leak --live --max-bytes 6K ./keeper keep:6145
for bad in -1 x 1x 99999999999999999999 17179869184g ''; do
    run_expect_status 2 "flame leak --live --max-bytes '$bad' is refused" \
        "$FLAME" leak --live "--max-bytes=$bad" ./keeper
done

rm -f leak.svg
run_expect_status 5 "the command's own failure precedes status 23" "$FLAME" leak --live ./keeper keep:10 exit:5
file_has err '10 bytes live' 'flame leak reports live bytes of a command that failed'
ok 'flame leak draws live bytes of a command that failed' test -s leak.svg
run_expect_status 143 'a signal of the command precedes status 23' \
    "$FLAME" leak --live ./keeper keep:10 signal:15

run_expect_status 23 'flame leak --live with a live block of a child ends with status 23' \
    "$FLAME" leak --live -- sh -c './keeper keep:4321; true'
file_has err '4,321 bytes' 'flame leak --live lists a live block of a child'
run_expect_status 23 'flame leak --live of a forked child ends with status 23' \
    "$FLAME" leak --live -o l.folded ./keeper keep:100 fork keep:20
file_has err '120 bytes live at the end in 2 blocks' 'flame leak --live counts inherited blocks once'
is_int "$(awk '!/^#/ { s += $NF } END { print s }' l.folded)" 120 \
    'the picture of flame leak --live counts inherited blocks once'

is_int "$(for n in 1 2 3 4 5 6 7; do echo "keep:$n"; done |
    xargs "$FLAME" leak --live -o l.folded ./keeper 2>&1 | grep -c ', live: ')" 1 \
    'flame leak --live lists one stack once'

run_expect_status 2 'flame leak of a missing command ends with status 2' "$FLAME" leak --live no-such-command
run_expect_status 2 'flame leak --view ends with status 2' "$FLAME" leak --live --view peak ./keeper

done_testing
