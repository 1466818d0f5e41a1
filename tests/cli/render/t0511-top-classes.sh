#!/bin/bash
# flame top of a trace with lifetimes: sizes and lifetimes of blocks by symbol; sorting
# by them; errors for traces without lifetimes.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim lives -pthread

# symbols FILE: "SYMBOL SIZE LIVED YOUNG" of each row that has them.
symbols() {
    awk 'NR > 2 && NF == 10 { print $10, $7, $8, $9 } NR > 2 && NF == 8 { print $8, $5, $6, $7 }' "$1"
}
record lifetimes=bytes ./lives bytes
is_str "$status" 0 'recording with lifetimes in bytes ends with status 0'
run_expect_status 0 'top of lifetimes succeeds' "$FLAME" top -e t.flame
is_str "$(cat err)" '' 'top of lifetimes prints nothing on standard error'
file_has out '^ *self +self% +total +total% +size +lived +young  symbol$' \
    'top of lifetimes has the columns size, lived and young'
file_lacks out '\[[0-9a-z]* to ' 'top of lifetimes has no class as a symbol'
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
ok 'top of lifetimes has at least three symbols' test "$(wc -l <shown)" -ge 3
cut -d' ' -f1 shown | while read -r symbol; do
    python3 expect.py "$symbol"
done >expected
is_str "$(sort shown)" "$(sort expected)" 'the columns of each symbol agree with the views'
run_expect_status 0 'top -s young succeeds' "$FLAME" top -s young t.flame
is_str "$(symbols out | cut -d' ' -f4)" "$(symbols out | cut -d' ' -f4 | sort -rn)" \
    'top -s young sorts in descending order'
run_expect_status 0 'top --view short succeeds' "$FLAME" top --view short t.flame
is_str "$(sed -n '1s/;.*//p' out)" "$("$FLAME" fold --view short t.flame | "$FLAME" top | sed -n '1s/;.*//p')" \
    'top --view short equals top of the folded view'
run_expect_status 0 'top --tree of lifetimes succeeds' "$FLAME" top --tree t.flame
file_lacks out 'young' 'top --tree has no columns of lifetimes'

# ---- none ----

record depth=64 ./lives bytes
run_expect_status 0 'top of a trace without lifetimes succeeds' "$FLAME" top t.flame
file_lacks out 'young' 'top of a trace without lifetimes has no such columns'
for key in size lived young; do
    run_expect_status 2 "top -s $key of a trace without lifetimes ends with status 2" \
        "$FLAME" top -s "$key" t.flame
    file_has err "^flame: top: -s $key is of traces with lifetimes, and not of a moment or a tree; record with " \
        "top -s $key of a trace without lifetimes says why"
done
printf 'm;[33 to 64 bytes] 5\n' >text
run_expect_status 0 'top of text with a name like a class succeeds' "$FLAME" top text
file_has out ' \[33 to 64 bytes\]$' 'top of text keeps a name like a class'
done_testing
