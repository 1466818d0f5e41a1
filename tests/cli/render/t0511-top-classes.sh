#!/bin/bash
# flame top of a trace with lifetimes: how large blocks are and how long they lived, by symbol; sorting
# by that; where there is nothing of the kind, it is said.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim lives -pthread

# symbols FILE: "SYMBOL SIZE LIVED YOUNG" of each row that has them.
symbols() {
    awk 'NR > 2 && NF == 10 { print $10, $7, $8, $9 } NR > 2 && NF == 8 { print $8, $5, $6, $7 }' "$1"
}
record lifetimes=bytes ./lives bytes
is_str "$status" 0 'a recording with lifetimes in bytes'
run_expect_status 0 'its symbols' "$FLAME" top -e t.flame
is_str "$(cat err)" '' 'say nothing else'
file_has out '^ *self +self% +total +total% +size +lived +young  symbol$' 'have three columns more'
file_lacks out '\[[0-9a-z]* to ' 'and classes are no symbols'
# The expected columns, from the folded views.
"$FLAME" fold --view sizes t.flame >sizes.folded
"$FLAME" fold --view lifetimes t.flame >lifetimes.folded
"$FLAME" fold --view short t.flame >short.folded
cat >expect.py <<'END_PY'
import re, sys
def stacks(path):
    for line in open(path):
        if not line.startswith("#"):
            frames, n = line.rstrip("\n").rsplit(" ", 1)
            yield frames.split(";"), int(n)
K = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
def bounds(s):
    s = s.strip("[]").replace("live: ", "").replace(" bytes", "")
    if s.startswith("under "):
        return 0, s[6:]
    m = re.fullmatch(r"(\d+)([a-z]?)(?: to (\S+)| and more)", s)
    return int(m[1]) * K[m[2]], m[3] or "over " + m[1] + m[2]
def median(path, want):
    sums = {}
    for frames, n in stacks(path):
        if want in frames[:-1] and frames[-1] != "[no birth known]":
            lo, hi = bounds(frames[-1])
            sums[lo] = (sums.get(lo, (0, hi))[0] + n, hi)
    half, got = sum(n for n, _ in sums.values()) / 2, 0
    for lo in sorted(sums):
        got += sums[lo][0]
        if got >= half:
            hi = sums[lo][1]
            n = int(hi) if hi.isdigit() else 0
            return f"{n >> 10}k" if n >= 1024 and n % 1024 == 0 and n < 1 << 20 else hi
want = sys.argv[1]
young = sum(n for f, n in stacks("short.folded") if want in f)
every = sum(n for f, n in stacks("lifetimes.folded") if want in f and f[-1] != "[no birth known]")
print(want, median("sizes.folded", want), median("lifetimes.folded", want), "%.2f%%" % (100 * young / every))
END_PY
symbols out | grep -v '^main_and_look ' >shown # the recorder's own, which flame fold leaves out
ok 'there are some' test "$(wc -l <shown)" -ge 3
cut -d' ' -f1 shown | while read -r symbol; do
    python3 expect.py "$symbol"
done >expected
is_str "$(sort shown)" "$(sort expected)" 'each is what the views say'
run_expect_status 0 'by what died young' "$FLAME" top -s young t.flame
is_str "$(symbols out | cut -d' ' -f4)" "$(symbols out | cut -d' ' -f4 | sort -rn)" 'the most first'
run_expect_status 0 'a view' "$FLAME" top --view short t.flame
is_str "$(sed -n '1s/;.*//p' out)" "$("$FLAME" fold --view short t.flame | "$FLAME" top | sed -n '1s/;.*//p')" \
    'is what it is without the columns'
run_expect_status 0 'a tree' "$FLAME" top --tree t.flame
file_lacks out 'young' 'has none'

# ---- none ----

record depth=64 ./lives bytes
run_expect_status 0 'without lifetimes' "$FLAME" top t.flame
file_lacks out 'young' 'there are no columns'
for key in size lived young; do
    run_expect_status 2 "-s $key" "$FLAME" top -s "$key" t.flame
    file_has err "^flame: top: -s $key is of traces with lifetimes, and not of a moment or a tree; record with " 'is refused'
done
printf 'm;[33 to 64 bytes] 5\n' >text
run_expect_status 0 'text' "$FLAME" top text
file_has out ' \[33 to 64 bytes\]$' 'has symbols of any name'
done_testing
