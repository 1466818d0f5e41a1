#!/usr/bin/env bash
# Two profiles compared, and the gate on what grew.
. "${0%/*}/../lib.sh"

printf 'm;a 100\nm;b;0x1f 50\nm;gone 10\n' >before
printf 'm;a 120\nm;b;0x2e 50\nm;new 40\n' >after
run_expect_status 0 'a comparison' "$FLAME" diff before after
is_str "$(cat out)" "$(printf 'm;a 100 120\nm;b;0x1f 50 0\nm;b;0x2e 0 50\nm;gone 10 0\nm;new 0 40')" \
    'before, after, and both'
is_str "$("$FLAME" diff -s before after | grep 0x)" 'm;b;0x... 50 50' '-s'
is_str "$("$FLAME" diff -n before after | head -n 1)" 'm;a 131.25 120' '-n scales to the sum after'
is_str "$("$FLAME" diff -n --compat perl before after | head -n 1)" 'm;a 131 120' '... in whole numbers for --compat perl'
is_str "$("$FLAME" diff - after <before)" "$(cat out)" 'one on standard input'
run_expect_status 2 'and for nothing else' "$FLAME" diff -n --compat python before after
printf 'a;w 97\na;x 1\na;y 1\na;z 1\n' >hundred
printf 'a;w 96\na;x 1\na;y 1\na;z 1\n' >fewer
is_str "$("$FLAME" diff -n hundred fewer)" 'a;w 96.03 96
a;x 0.99 1
a;y 0.99 1
a;z 0.99 1' 'no stack is lost, and both sums are the same'
printf 'a 1\nb 1\nc 1\n' >three
printf 'a 4\nb 6\n' >ten
is_str "$("$FLAME" diff -n three ten | awk '{ split($2, n, "."); whole += n[1]; part += n[2] } END { printf "%d %.0f\n", whole, part / 1e17 }')" \
    '9 10' '... to the last part'
ok 'it can be drawn' sh -c '"$FLAME" diff before after | "$FLAME" render -o x.svg'

gate() {
    run "$FLAME" diff -o compared --fail-above "$@" before after
}
gate 100%
is_int "$status" 0 'a gate that holds'
gate 5%
is_int "$status" 1 'a gate that fails'
is_int "$(wc -l <compared)" 5 'what was compared is written all the same'
like "$(cat err)" 'the whole grew: 160 before, 210 after \(\+31.2%\)' 'says what grew'
like "$(cat err)" 'm;new: 0 before, 40 after' 'names the stacks'
unlike "$(cat err)" 'm;gone' 'not those that shrank'
gate '5%:^b$'
is_int "$status" 0 'a frame that did not grow'
gate '5%:^a$'
is_int "$status" 1 'a frame that did'
like "$(cat err)" 'the stacks watched grew: 100 before, 120 after' 'is named'
gate '25%:^a$'
is_int "$status" 0 'by less than that'
gate '5%:^prase_'
is_int "$status" 24 'a frame that is in no stack was not checked'
file_has err '^flame: diff: --fail-above: no stack has a frame that matches, before or after' 'which is said'
is_int "$(wc -l <compared)" 5 'what was compared is written all the same'
printf 'm;a 100\nm;b 100\n' >before
printf 'm;a 130\nm;b 70\n' >after
gate 10%
is_int "$status" 1 'the sum is the same, one frame grew'
like "$(cat err)" 'a and what it calls grew: 100 before, 130 after' 'is named'
gate 20%
is_int "$status" 0 'but not by that much of the whole'

for wrong in 5 x% 5%: '5%:(' -1%; do
    run_expect_status 2 "no gate: $wrong" "$FLAME" diff --fail-above "$wrong" before after
done
run_expect_status 2 'one profile' "$FLAME" diff before
run_expect_status 2 'no profile' "$FLAME" diff before "$ROOT/LICENSE"
printf '# flame: view=live unit=bytes\na 1\n' >live
printf '# flame: view=count unit=calls\na 1\n' >count
run_expect_status 2 'bytes against calls' "$FLAME" diff live count
printf '# flame: view=live unit=bytes\n' >empty
is_str "$("$FLAME" diff live empty | tail -n 1)" 'a 1 0' 'against a view that holds nothing'
is_str "$("$FLAME" diff empty live | tail -n 1)" 'a 0 1' 'and the other way round'
: >nothing
is_str "$("$FLAME" diff live nothing | tail -n 1)" 'a 1 0' 'against nothing'
is_str "$("$FLAME" diff -n nothing live | tail -n 1)" 'a 0 1' 'and the other way round'
run_expect_status 0 'nothing against nothing' "$FLAME" diff --fail-above 5% nothing nothing
file_has err 'there are no stacks, before or after' 'passes, and not in silence'
is_int "$(wc -c <out)" 0 'is nothing'
run_expect_status 1 'what is new has grown' "$FLAME" diff --fail-above 5% nothing live
run_expect_status 0 'what is gone has not' "$FLAME" diff --fail-above 5% live nothing

done_testing
