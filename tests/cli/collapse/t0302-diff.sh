#!/usr/bin/env bash
# Two profiles compared, and the gate on what grew.
. "${0%/*}/../lib.sh"

printf 'm;a 100\nm;b;0x1f 50\nm;gone 10\n' >before
printf 'm;a 120\nm;b;0x2e 50\nm;new 40\n' >after
run_expect_status 0 'diff succeeds' "$FLAME" diff before after
is_str "$(cat out)" "$(printf 'm;a 100 120\nm;b;0x1f 50 0\nm;b;0x2e 0 50\nm;gone 10 0\nm;new 0 40')" \
    'diff prints stacks only before, only after, and in both'
is_str "$("$FLAME" diff -s before after | grep 0x)" 'm;b;0x... 50 50' 'diff -s merges addresses'
is_str "$("$FLAME" diff -n before after | head -n 1)" 'm;a 131.25 120' 'diff -n scales to the sum after'
is_str "$("$FLAME" diff -n --compat perl before after | head -n 1)" 'm;a 131 120' \
    'diff -n --compat perl prints whole numbers'
is_str "$("$FLAME" diff - after <before)" "$(cat out)" 'diff reads one profile from standard input'
run_expect_status 2 'diff --compat python ends with status 2' "$FLAME" diff -n --compat python before after
printf 'a;w 97\na;x 1\na;y 1\na;z 1\n' >hundred
printf 'a;w 96\na;x 1\na;y 1\na;z 1\n' >fewer
is_str "$("$FLAME" diff -n hundred fewer)" 'a;w 96.03 96
a;x 0.99 1
a;y 0.99 1
a;z 0.99 1' 'diff -n loses no stack and keeps both sums equal'
printf 'a 1\nb 1\nc 1\n' >three
printf 'a 4\nb 6\n' >ten
is_str "$("$FLAME" diff -n three ten | awk '{ split($2, n, "."); whole += n[1]; part += n[2] } END { printf "%d %.0f\n", whole, part / 1e17 }')" \
    '9 10' 'diff -n keeps the sum to the last digit'
ok 'diff can be drawn' sh -c '"$FLAME" diff before after | "$FLAME" render -o x.svg'

gate() {
    run "$FLAME" diff -o compared --fail-above "$@" before after
}
gate 100%
is_int "$status" 0 '--fail-above 100% passes'
is_str "$(cat err)" 'flame: diff: compared 5 stacks: 160 before, 210 after (+31.2%)' \
    '--fail-above that passes reports what it compared'
gate 5%
is_int "$status" 1 '--fail-above 5% fails with status 1'
is_int "$(wc -l <compared)" 5 '--fail-above that fails writes the comparison'
like "$(cat err)" 'the whole grew: 160 before, 210 after \(\+31.2%\)' \
    '--fail-above reports the growth of the whole'
like "$(cat err)" 'm;new: 0 before, 40 after' '--fail-above names stacks that grew'
unlike "$(cat err)" 'm;gone' '--fail-above does not name stacks that shrank'
gate '5%:^b$'
is_int "$status" 0 '--fail-above of a frame that did not grow passes'
gate '5%:^a$'
is_int "$status" 1 '--fail-above of a frame that grew fails'
like "$(cat err)" 'the stacks watched grew: 100 before, 120 after' \
    '--fail-above of a frame that grew reports its growth'
gate '25%:^a$'
is_int "$status" 0 '--fail-above of a frame that grew less passes'
is_str "$(cat err)" 'flame: diff: compared 1 stack with such a frame: 100 before, 120 after (+20.0%)' \
    '--fail-above of a frame reports what it compared'
gate '5%:^prase_'
is_int "$status" 24 '--fail-above of a frame in no stack ends with status 24'
file_has err '^flame: diff: --fail-above: no stack has a frame that matches, before or after' \
    '--fail-above of a frame in no stack says so'
is_int "$(wc -l <compared)" 5 '--fail-above of a frame in no stack writes the comparison'
printf 'm;a 100\nm;b 100\n' >before
printf 'm;a 130\nm;b 70\n' >after
gate 10%
is_int "$status" 1 '--fail-above with equal sums and one grown frame fails'
like "$(cat err)" 'a and what it calls grew: 100 before, 130 after' \
    '--fail-above with equal sums names the grown frame'
gate 20%
is_int "$status" 0 '--fail-above with equal sums passes for less growth than the limit'

printf 'm;[app+0x1f] 100\nm;[libc.so.6+0x8];b 100\n' >before
printf 'm;[app+0x2e] 90\nm;[libc.so.6+0x8];b 100\n' >after
gate 100%
is_str "$(sed -n 2p err)" \
    'flame: diff: 2 of them with offsets for names that one side lacks, as after a rebuild: 100 before, 90 after (-10.0%)' \
    '--fail-above reports stacks with offsets for names'
gate 100% -s
is_int "$(wc -l <err)" 1 '--fail-above with -s has no offsets to report'

for wrong in 5 x% 5%: '5%:(' -1%; do
    run_expect_status 2 "--fail-above $wrong ends with status 2" \
        "$FLAME" diff --fail-above "$wrong" before after
done
run_expect_status 2 'diff of one profile ends with status 2' "$FLAME" diff before
run_expect_status 2 'diff with a text without stacks ends with status 2' "$FLAME" diff before "$ROOT/LICENSE"
printf '# flame: view=live unit=bytes\na 1\n' >live
printf '# flame: view=count unit=calls\na 1\n' >count
run_expect_status 2 'diff of bytes and calls ends with status 2' "$FLAME" diff live count
printf '# flame: view=live unit=bytes\n' >empty
is_str "$("$FLAME" diff live empty | tail -n 1)" 'a 1 0' \
    'diff with an empty view after has only the counts before'
is_str "$("$FLAME" diff empty live | tail -n 1)" 'a 0 1' \
    'diff with an empty view before has only the counts after'
: >nothing
is_str "$("$FLAME" diff live nothing | tail -n 1)" 'a 1 0' \
    'diff with an empty file after has only the counts before'
is_str "$("$FLAME" diff -n nothing live | tail -n 1)" 'a 0 1' \
    'diff -n with an empty file before has only the counts after'
run_expect_status 0 'diff --fail-above of two empty files succeeds' \
    "$FLAME" diff --fail-above 5% nothing nothing
file_has err 'there are no stacks, before or after' \
    'diff --fail-above of two empty files says that there are no stacks'
is_int "$(wc -c <out)" 0 'diff --fail-above of two empty files prints nothing'
run_expect_status 1 'diff --fail-above fails for new stacks' "$FLAME" diff --fail-above 5% nothing live
run_expect_status 0 'diff --fail-above passes for removed stacks' "$FLAME" diff --fail-above 5% live nothing

done_testing
