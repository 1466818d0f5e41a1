#!/bin/bash
# flame top -s p50, p95, p99 and max: percentiles of a symbol are those of all its sleeps,
# not means over its stacks; sorting; unknown durations; errors for other profiles.
. "${0%/*}/../lib.sh"

# The view counts as the truth here; t0931 compares it with the program's own clock.
compile_victim naps -pthread
run timeout 60 "$FLAME" off -q -o t.flame ./naps 3
is_str "$status" 0 'flame off of naps ends with status 0'
"$FLAME" fold --no-header --view latency t.flame >latency.folded
cat >expect.py <<'END_PY'
import math, re, sys
UNIT = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
def ns(text):
    m = re.fullmatch(r"([\d.]+)([a-z]+)", text)
    return round(float(m[1]) * UNIT[m[2]])
of = {}
for line in open("latency.folded"):
    frames, n = line.rstrip("\n").rsplit(" ", 1)
    frames = frames.split(";")
    last = frames.pop().strip("[]")
    if last.startswith("longest "):
        at = ns(last[8:])
        step = 1 if at < 8 else 2 ** (int(math.log2(at)) - 3)
        sleeps = [(at // step * step, step, at)]
    else:
        lo, hi = map(ns, last.split(" to "))
        sleeps = [(lo, hi - lo + 1, 0)] * int(n)
    for name in set(frames):
        of.setdefault(name, []).extend(sleeps)
def shown(v):
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("\u00b5s", 1e3)):
        if v >= scale * 0.99995:
            x = v / scale
            return ("%.2f" if x < 100 else "%.1f" if x < 1000 else "%.0f") % x + unit
    return "%dns" % v
for name, sleeps in of.items():
    sleeps.sort()
    most = max(s[2] for s in sleeps)
    row = [name]
    for p in (50, 95, 99):
        rank = math.ceil(len(sleeps) * p / 100)
        lo, step, _ = sleeps[rank - 1]
        row.append(shown(most if rank == len(sleeps) else min(most, lo + (step - 1) // 2)))
    print(" ".join(row + [shown(most)]))
    print(most, name, file=open("by_name", "a"))
END_PY
python3 expect.py | sort >expected
ok 'the latency view has at least eight symbols' test "$(wc -l <expected)" -ge 8

# rows FILE: "SYMBOL P50 P95 P99 MAX" of each row that has them; a value and its unit are one word.
rows() {
    sed -E '1,2d; s/([0-9]) (ns|µs|ms|s) /\1\2 /g' "$1" |
        awk '$5 ~ /[0-9]s$|[0-9][nmµ]+s$/ && $8 ~ /s$/ {
            columns = $5 " " $6 " " $7 " " $8
            sub(/^ *([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)/, "")
            print $0, columns }'
}
for key in p50 p95 p99 max; do
    run_expect_status 0 "top -s $key succeeds" "$FLAME" top -n 0 -s "$key" t.flame
    is_str "$(cat err)" '' "top -s $key prints nothing on standard error"
    is_str "$(rows out | sort)" "$(cat expected)" \
        "top -s $key: percentiles of a symbol are those of all its stacks"
done
file_has out '^ *self +self% +total +total% +p50 +p95 +p99 +max  symbol$' \
    'top -s max has the columns p50, p95, p99 and max'
file_lacks out '\[longest|ms to ' 'top -s max has no class as a symbol'
# The sum over columns: by max, which is exact, the rows go down.
"$FLAME" top -n 0 -s max -e t.flame | awk 'NR > 2' >sorted
is_str "$(grep -c . sorted)" "$(grep -c . <(awk 'NR > 2' out))" 'top -s max -e has as many symbols'
sed -E 's/.*(s|  ) +  //; s/^.*  //' sorted | while read -r symbol; do
    s=$symbol awk '{ n = $1; $1 = ""; sub(/^ /, "") } $0 == ENVIRON["s"] { print n }' by_name
done >maxima
ok 'each symbol has a longest sleep' test "$(wc -l <maxima)" -ge 8
is_str "$(cat maxima)" "$(sort -rn maxima)" 'top -s max sorts in descending order'
file_lacks out 'not known' 'top -s max of a trace by stops has no unknown durations'

run_expect_status 0 'top of an off-CPU trace succeeds' "$FLAME" top t.flame
file_lacks out 'p99' 'top without -s p99 has no columns of percentiles'
run_expect_status 0 'top -s p99 --grep succeeds' "$FLAME" top -s p99 --grep short_naps t.flame
file_lacks out 'long_naps' 'top -s p99 --grep keeps matching stacks only'

# ---- none ----

for args in '--tree' '--view latency'; do
    # shellcheck disable=SC2086 # words of their own
    run_expect_status 2 "top -s p99 $args ends with status 2" "$FLAME" top -s p99 $args t.flame
    file_has err '^flame: top: -s p99 is of traces of .flame off. in which something slept, and not of ' \
        "top -s p99 $args says why"
done
printf 'm;[1.048576ms to 1.179647ms] 5\n' >text
run_expect_status 2 'top -s max of folded text ends with status 2' "$FLAME" top -s max text
run_expect_status 0 'top of text with a name like a latency class succeeds' "$FLAME" top text
file_has out ' \[1.048576ms to 1.179647ms\]$' 'top of text keeps a name like a latency class'
done_testing
