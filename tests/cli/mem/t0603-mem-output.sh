#!/bin/bash
# Output of flame mem: by the ending of -o, by view, and the summary.
. "${0%/*}/../lib.sh"

compile_victim keeper

run_expect_status 0 'flame mem without -o succeeds' "$FLAME" mem ./keeper keep:1000 drop:500:3
ok 'the default output is COMMAND-mem.svg' test -s keeper-mem.svg
file_has keeper-mem.svg '^<\?xml|<svg' 'the default output is a picture'
file_has err '^flame: keeper: allocated .*2,500 bytes in 4 calls$' 'the summary has the allocated bytes'
file_has err '^flame: peak .*1,500 bytes; live at the end .*1,000 bytes in 1 block$' \
    'the summary has peak and live bytes'
file_has err '^flame: 2 stacks, 1 process, 1 thread; recording cost about [0-9.]+ [^ ]*s, the run took ' \
    'the summary has stacks and cost'
file_lacks err 'cost about 0 ns' 'the summary of a program of few calls has the cost of starting'
file_has err '^flame: alloc view in keeper-mem\.svg; the others: .* --view peak -o x\.svg x\.flame' \
    'the summary names the picture and a command for other views'
ok 'the picture is well-formed XML' python3 -c '
import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' keeper-mem.svg

for pair in alloc:2500 count:4 live:1000 peak:1500 temp:3; do
    run_expect_status 0 "flame mem --view ${pair%:*} succeeds" \
        "$FLAME" mem -q --view "${pair%:*}" -o "v.folded" -- \
        ./keeper keep:1000 drop:500:3
    is_int "$(awk '!/^#/ { sum += $NF } END { print sum + 0 }' v.folded)" "${pair#*:}" \
        "--view ${pair%:*} sums to ${pair#*:}"
    is_str "$(cat err)" '' "flame mem -q --view ${pair%:*} prints nothing"
done
file_has v.folded '^# flame: .*view=temp' 'the header of folded text has the view'

run_expect_status 0 'flame mem -o x.flame succeeds' "$FLAME" mem -o x.flame -- ./keeper keep:1000
file_has err "^flame: the trace is in x\.flame; see it with 'flame render --view alloc -o x\.svg x\.flame'" \
    'the summary names the trace and a command to see it'
run_expect_status 0 'fold of a kept trace succeeds' "$FLAME" fold --view live x.flame
file_has out 'keep_block 1000$' 'fold of a kept trace has the block'
run_expect_status 0 'render of a kept trace succeeds' "$FLAME" render --view live -o x.svg x.flame
ok 'render of a kept trace writes a picture' test -s x.svg

run_expect_status 0 'flame mem with an empty view succeeds' \
    "$FLAME" mem --view live -o none.svg -- ./keeper drop:10
not_ok 'flame mem with an empty view writes no picture' test -e none.svg
file_has err 'the live view is empty' 'flame mem with an empty view says so'

run_expect_status 0 'flame mem -o none.html without a block succeeds' "$FLAME" mem -o none.html -- ./keeper
file_has err '^flame: all views are empty: nothing was made$' \
    'flame mem -o none.html without a block says that all views are empty'
run_expect_status 0 'flame mem -o x.folded succeeds' "$FLAME" mem -o x.folded -- ./keeper keep:10
file_has err '^flame: alloc view, folded, in x\.folded; the others: ' \
    'the summary calls folded text by its name'

mkdir 'odd : %p dir'
cp keeper 'odd : %p dir/k %e'
run_expect_status 0 'flame mem with blanks, colons and percent signs in its names succeeds' \
    env TMPDIR="$SCRATCH/odd : %p dir" "$FLAME" mem -o "odd : %p dir/x y.folded" -- \
    "./odd : %p dir/k %e" keep:77
file_has 'odd : %p dir/x y.folded' 'keep_block 77$' \
    'blanks, colons and percent signs in names: the result is right'
is_str "$(ls 'odd : %p dir')" 'k %e
x y.folded' 'blanks, colons and percent signs in names: no other file is left'

run_expect_status 0 "flame mem with the user's FLAMEMEM_OPTIONS succeeds" \
    env FLAMEMEM_OPTIONS=out=/nowhere/x:depth=8 "$FLAME" mem -o x.flame -- ./keeper keep:5
is_str "$(ls -d /nowhere 2>/dev/null)" '' "out= in the user's FLAMEMEM_OPTIONS has no effect"
run env FLAMEMEM_OPTIONS=nonsense=1 "$FLAME" mem -o x.folded -- ./keeper keep:5
file_has err "nonsense=1" "the recorder names a wrong option in the user's FLAMEMEM_OPTIONS"
run "$FLAME" mem --shim
is_str "$(cat out)" "$SHIM" 'flame mem --shim prints the path of libflamemem.so'

done_testing
