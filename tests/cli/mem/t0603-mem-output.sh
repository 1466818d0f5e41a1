#!/bin/bash
# Output of flame mem: by the ending of -o, by view, and the summary.
. "${0%/*}/../lib.sh"

compile_victim keeper

run_expect_status 0 'default output' "$FLAME" mem ./keeper keep:1000 drop:500:3
ok 'is COMMAND-mem.svg here' test -s keeper-mem.svg
file_has keeper-mem.svg '^<\?xml|<svg' 'a picture'
file_has err '^flame: keeper: allocated .*2,500 bytes in 4 calls$' 'summary: allocated'
file_has err '^flame: peak .*1,500 bytes; live at the end .*1,000 bytes in 1 block$' \
    'summary: peak and live'
file_has err '^flame: 2 stacks, 1 process, 1 thread; recording cost about [0-9.]+ [^ ]*s, the run took ' \
    'summary: stacks and cost'
file_lacks err 'cost about 0 ns' 'summary: a program of few calls has a cost, that of starting'
file_has err '^flame: alloc view in keeper-mem\.svg; the others: .* --view peak -o x\.svg x\.flame' \
    'summary: where the picture is, and how to see more'
ok 'python reads the picture as XML' python3 -c '
import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' keeper-mem.svg

for pair in alloc:2500 count:4 live:1000 peak:1500 temp:3; do
    run_expect_status 0 "view ${pair%:*}" "$FLAME" mem -q --view "${pair%:*}" -o "v.folded" -- \
        ./keeper keep:1000 drop:500:3
    is_int "$(awk '!/^#/ { sum += $NF } END { print sum + 0 }' v.folded)" "${pair#*:}" \
        "view ${pair%:*} sums up to ${pair#*:}"
    is_str "$(cat err)" '' 'nothing is said under -q'
done
file_has v.folded '^# flame: .*view=temp' 'folded text says its view'

run_expect_status 0 'a trace is kept' "$FLAME" mem -o x.flame -- ./keeper keep:1000
file_has err "^flame: the trace is in x\.flame; see it with 'flame render --view alloc -o x\.svg x\.flame'" \
    'and how to see it is said'
run_expect_status 0 'and folds' "$FLAME" fold --view live x.flame
file_has out 'keep_block 1000$' 'to the same'
run_expect_status 0 'and renders' "$FLAME" render --view live -o x.svg x.flame
ok 'to a picture' test -s x.svg

run_expect_status 0 'an empty view' "$FLAME" mem --view live -o none.svg -- ./keeper drop:10
not_ok 'makes no picture' test -e none.svg
file_has err 'the live view is empty' 'and says so'

run_expect_status 0 'an empty page' "$FLAME" mem -o none.html -- ./keeper
file_has err '^flame: all views are empty: nothing was made$' 'is told apart from an empty view'
run_expect_status 0 'folded text' "$FLAME" mem -o x.folded -- ./keeper keep:10
file_has err '^flame: alloc view, folded, in x\.folded; the others: ' 'is no picture'

mkdir 'odd : %p dir'
cp keeper 'odd : %p dir/k %e'
run_expect_status 0 'blanks, colons and percent signs in every name' \
    env TMPDIR="$SCRATCH/odd : %p dir" "$FLAME" mem -o "odd : %p dir/x y.folded" -- \
    "./odd : %p dir/k %e" keep:77
file_has 'odd : %p dir/x y.folded' 'keep_block 77$' 'do no harm'
is_str "$(ls 'odd : %p dir')" 'k %e
x y.folded' 'and nothing else is left there'

run_expect_status 0 "the user's own recorder options are kept" \
    env FLAMEMEM_OPTIONS=out=/nowhere/x:depth=8 "$FLAME" mem -o x.flame -- ./keeper keep:5
is_str "$(ls -d /nowhere 2>/dev/null)" '' 'but not their out='
run env FLAMEMEM_OPTIONS=nonsense=1 "$FLAME" mem -o x.folded -- ./keeper keep:5
file_has err "nonsense=1" 'and a wrong one is named by the recorder'
run "$FLAME" mem --shim
is_str "$(cat out)" "$SHIM" '--shim prints where the library is'

done_testing
