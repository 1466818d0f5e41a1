#!/bin/bash
# The lanes of a page: the sum of its waits by stack equals the count of each view, both of a page that
# was recorded and of one drawn from the trace; --lanes off leaves them out.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

compile_victim timed -O1 -fno-optimize-sibling-calls -pthread

cat >page.py <<'EOF'
# Numbers of a page, unpacked: each view's counts against its waits.
import base64, json, re, sys
text = open(sys.argv[1]).read()
data = json.loads(re.search(r'<script id="profile" type="application/json">(.*?)</script>', text, re.S).group(1))
def numbers(packed):
    v = shift = 0
    for c in base64.b64decode(packed):
        v |= (c & 127) << shift
        shift += 7
        if c < 128:
            yield v
            v = shift = 0
def signed(v):
    return -(v + 1) // 2 if v & 1 else v // 2
lanes = data.get("lanes")
if sys.argv[2] == "none":
    assert lanes is None and not any("lanes" in c for c in data["columns"])
    print("no lanes")
    sys.exit()
kind, thread, waker = (list(numbers(lanes[k])) for k in ("kind", "thread", "waker"))
assert len(kind) == len(thread) == len(waker) == lanes["rows"]
ns, runq, waits = [0] * len(kind), [0] * len(kind), 0
for of, packed in lanes["waits"]:
    read, before = numbers(packed), 0
    for v in read:
        row, begin, length = v >> 2, next(read), next(read)
        rest, r = signed(next(read)), next(read)
        if v & 3 >= 2:
            next(read), next(read)
        assert thread[row] == of, "a wait in another thread's lane"
        ns[row] += length - rest - r
        runq[row] += r
        waits += 1
checked = 0
for c in data["columns"]:
    if "lanes" not in c or (c["name"] == "chain" and "links" in lanes): # those are links, no rows
        continue
    own, want, read, at = {}, {}, numbers(c["own"]), 0
    for gap in read:
        at += gap
        own[at] = next(read)
    read, at = numbers(c["lanes"]), 0
    for gap in read:
        at += gap
        row, sum = 0, 0
        for _ in range(next(read)):
            row += signed(next(read))
            sum += runq[row] if c["name"] == "runq" else ns[row] if c["name"] == "oncpu" or kind[row] == 15 else ns[row] + runq[row]
        want[at] = want.get(at, 0) + (sum + 500) // 1000
    want = {n: v for n, v in want.items() if v}
    assert own == want, (c["name"], {n: (own.get(n), want.get(n)) for n in set(own) | set(want) if own.get(n) != want.get(n)})
    checked += 1
assert checked >= 6 and waits >= int(sys.argv[2]), (checked, waits)
print(checked, "views,", waits, "waits")
EOF

run_expect_status 0 'flame off -o x.html succeeds' "$FLAME" off -q -o x.html -- ./timed 6 20
run_expect_status 0 'lanes of a recorded page sum to the counts of its views' python3 page.py x.html 6
run_expect_status 0 'flame off -o x.flame succeeds' "$FLAME" off -q -o x.flame -- ./timed 6 20
run_expect_status 0 'render -o y.html of a trace succeeds' "$FLAME" render -o y.html x.flame
run_expect_status 0 'lanes of a rendered page sum to the counts of its views' python3 page.py y.html 6
run_expect_status 0 'render --tid --idle -o z.html succeeds' "$FLAME" render -o z.html --tid --idle x.flame
run_expect_status 0 'lanes of a filtered page sum to the counts of its views' python3 page.py z.html 1
# Stacks of many threads, and so of many rows.
run_expect_status 0 'flame off -o p.html of several processes succeeds' "$FLAME" off -q -o p.html -- \
    sh -c 'for i in 1 2 3; do seq 100 | sort -n | tail -1; done'
run_expect_status 0 'lanes of several processes sum to the counts of the views' python3 page.py p.html 6
run_expect_status 0 'flame run -o r.html succeeds' "$FLAME" run -q -o r.html -- ./timed 6 20
run_expect_status 0 'lanes of flame run sum to the counts of its views' python3 page.py r.html 6
run_expect_status 0 'flame off --lanes off succeeds' "$FLAME" off -q --lanes off -o n.html -- ./timed 2 1
run_expect_status 0 'flame off --lanes off leaves no lanes in the page' python3 page.py n.html none
done_testing
