#!/bin/bash
# flame top -s p99 and its like, of folded truth: percentiles of a symbol are those of all its sleeps,
# not means of its stacks'; sorting; what is not known is said; where there is nothing of the kind.
. "${0%/*}/../lib.sh"

# The view counts as the truth here; t0931 compares it with the program's own clock.
compile_victim naps -pthread
run timeout 60 "$FLAME" off -q -o t.flame ./naps 3
is_str "$status" 0 'a recording'
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
ok 'there are some' test "$(wc -l <expected)" -ge 8

# rows FILE: "SYMBOL P50 P95 P99 MAX" of each row that has them; a value and its unit are one word.
rows() {
    sed -E '1,2d; s/([0-9]) (ns|µs|ms|s) /\1\2 /g' "$1" |
        awk '$5 ~ /[0-9]s$|[0-9][nmµ]+s$/ && $8 ~ /s$/ {
            columns = $5 " " $6 " " $7 " " $8
            sub(/^ *([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)([^ ]+ +)/, "")
            print $0, columns }'
}
for key in p50 p95 p99 max; do
    run_expect_status 0 "-s $key" "$FLAME" top -n 0 -s "$key" t.flame
    is_str "$(cat err)" '' 'says nothing else'
    is_str "$(rows out | sort)" "$(cat expected)" 'each symbol has what its stacks together say'
done
file_has out '^ *self +self% +total +total% +p50 +p95 +p99 +max  symbol$' 'columns'
file_lacks out '\[longest|ms to ' 'classes are no symbols'
# The sum over columns: by max, which is exact, the rows go down.
"$FLAME" top -n 0 -s max -e t.flame | awk 'NR > 2' >sorted
is_str "$(grep -c . sorted)" "$(grep -c . <(awk 'NR > 2' out))" 'as many symbols in any order'
sed -E 's/.*(s|  ) +  //; s/^.*  //' sorted | while read -r symbol; do
    s=$symbol awk '{ n = $1; $1 = ""; sub(/^ /, "") } $0 == ENVIRON["s"] { print n }' by_name
done >maxima
ok 'all have one' test "$(wc -l <maxima)" -ge 8
is_str "$(cat maxima)" "$(sort -rn maxima)" 'the longest first'
file_lacks out 'not known' 'all durations are known'

run_expect_status 0 'by self' "$FLAME" top t.flame
file_lacks out 'p99' 'there are no such columns unless they are asked for'
run_expect_status 0 'together with a filter' "$FLAME" top -s p99 --grep short_naps t.flame
file_lacks out 'long_naps' 'it has what is left'

# ---- none ----

for args in '--tree' '--view latency'; do
    # shellcheck disable=SC2086 # words of their own
    run_expect_status 2 "-s p99 $args" "$FLAME" top -s p99 $args t.flame
    file_has err '^flame: top: -s p99 is of traces of .flame off. in which something slept, and not of ' 'is refused'
done
printf 'm;[1.048576ms to 1.179647ms] 5\n' >text
run_expect_status 2 'folded text' "$FLAME" top -s max text
run_expect_status 0 'by self' "$FLAME" top text
file_has out ' \[1.048576ms to 1.179647ms\]$' 'has symbols of any name'
done_testing
