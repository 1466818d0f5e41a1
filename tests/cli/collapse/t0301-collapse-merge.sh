#!/usr/bin/env bash
# Sums of folded files: any grouping gives the same file.
. "${0%/*}/../lib.sh"

printf 'a;b 1\na;c 2.5\na (x) 3\n' >one
printf 'a;b 10\r\na;c 0.25   \na 4\n\n# said by hand\n' >two
run_expect_status 0 'fold of two folded files succeeds' "$FLAME" fold one two
is_str "$(cat out)" "$(printf 'a (x) 3\na 4\na;b 11\na;c 2.75')" \
    'fold sums two folded files and sorts the lines'
ok 'fold sorts as sort does' sort -c out
"$FLAME" fold out >again
ok 'fold of its own output is unchanged' cmp out again
is_str "$("$FLAME" fold - <one)" "$("$FLAME" fold one)" 'fold reads standard input'
gzip -k one
is_str "$("$FLAME" fold one.gz)" "$("$FLAME" fold one)" 'fold reads gzip'
zstd -q one 2>/dev/null || python3 -c 'pass'
if [ -e one.zst ]; then
    is_str "$("$FLAME" fold one.zst)" "$("$FLAME" fold one)" 'fold reads zstd'
else
    skip zstd 'no zstd program'
fi

# Many hosts, in several groupings.
mkdir hosts
for i in $(seq 60); do
    seed=$i awk 'BEGIN { srand(ENVIRON["seed"] + 0); for (i = 0; i < 40; i++) {
        s = "app"; n = 1 + int(rand() * 6)
        for (k = 0; k < n; k++) s = s ";f" int(rand() * 4)
        printf "%s %d.%d\n", s, rand() * 1000, rand() * 1000 } }' >"hosts/$i.folded"
done
"$FLAME" fold hosts/*.folded >all
for n in 2 7 30; do
    rm -f part.*
    # shellcheck disable=SC2011,SC2012
    ls hosts/*.folded | xargs -n "$n" sh -c '"$FLAME" fold -o part.$$ "$@"' fold
    "$FLAME" fold part.* >grouped
    ok "fold in groups of $n gives the same file" cmp all grouped
done
cat hosts/*.folded | "$FLAME" fold - >piped
ok 'fold of all files on one pipe gives the same file' cmp all piped
for f in hosts/*.folded; do "$FLAME" fold -o "$f.sorted" "$f"; done
sort -m hosts/*.sorted | "$FLAME" fold - >merged
ok 'fold after sort -m gives the same file' cmp all merged

printf '# flame: view=live unit=bytes\na 1\n' >live
printf '# flame: view=count unit=calls\na 1\n' >count
run_expect_status 0 'fold of files with a header succeeds' "$FLAME" fold live live one
is_str "$(head -n 1 out)" '# flame: view=live unit=bytes' 'fold keeps the header of merged files'
run_expect_status 2 'fold of bytes and calls ends with status 2' "$FLAME" fold live count
like "$(cat err)" 'count: its counts are of another kind than those before' 'fold of bytes and calls says why'

printf '# flame: view=live unit=bytes\na;b 1 2\na;c 3\n' >two-columns
is_str "$("$FLAME" fold --no-header two-columns two-columns)" "$(printf 'a;b 2 4\na;c 6 0')" \
    'fold sums two columns'
printf 'a -3\nb 1e3\nc .5\nd +4\ne 18446744073709551616\ne 7\nf 1\nf 2\n' >counts
run "$FLAME" fold counts
is_str "$(cat out)" $'e 18446744073709551615\nf 3' 'fold leaves out invalid counts and keeps large ones'
like "$(cat err)" '4 lines were not understood and left out, the first is line 1: a -3' \
    'fold warns of invalid counts'
run_expect_status 2 'fold of a text without stacks ends with status 2' "$FLAME" fold "$ROOT/LICENSE"
is_str "$("$FLAME" collapse --collapse-recursion - <<<'a;b;b;b;c;b 2')" 'a;b;c;b 2' \
    'collapse --collapse-recursion merges repeated frames'

done_testing
