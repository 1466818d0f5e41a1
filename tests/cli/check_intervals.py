"""check_intervals.py DUMP TOLD [MS]: the intervals in a dump of a trace add up to its rows, and are at the times
that the program told (TOLD; "-": nothing), each sleep MS long. Where the file had no room for some intervals, what
is missing in all is what the trace says was lost."""

import sys
rows, found, threads, nodes = {}, {}, {}, {}
waits = []
lost = 0
for line in open(sys.argv[1]):
    name, *rest = line.split()
    f = dict(x.split("=", 1) for x in rest if "=" in x)
    if name == "row":
        rows[f["id"]] = f
    elif name == "thread":
        threads[f["id"]] = f
    elif name == "node":
        nodes[f["id"]] = f
    elif name == "interval" and "lost_ns" in f:
        lost = max(lost, int(f["lost_ns"]))
    elif name == "interval" and "row" in f:
        v = found.setdefault(f["row"], [0, 0, 0])
        for i, key in enumerate(("ns", "runq_ns", "times")):
            v[i] += int(f[key])
        assert int(f["begin_ns"]) <= int(f["end_ns"]), line
        waits.append(f)
assert rows and waits
missing = 0
for id, r in rows.items():
    if r["kind"] == "class": # how many sleeps took how long, and no time
        continue
    want = [int(r["blocked_ns"]) + int(r["cpu_ns"]), int(r["runq_ns"]),
            int(r["sleeps"]) + int(r["samples"])]
    got = found.get(id, [0, 0, 0])
    missing += want[0] - got[0]
    assert got == want or lost and all(g <= w for g, w in zip(got, want)), ("row", r, "intervals", got)
assert missing == lost, ("missing", missing, "said to be lost", lost)
print("rows add up")
if sys.argv[2] == "-":
    sys.exit(0)
told = {"sleep": [], "read": []}
for line in open(sys.argv[2]):
    word, a, b = line.split()
    if word == "tids":
        tids = {"sleep": a, "read": b}
    else:
        told[word].append((int(a), int(b)))

def waker(node):
    """The thread whose stack ended the wait; None: no thread."""
    n = nodes[node]
    if n["kind"] != "waker":
        return None
    at = nodes[n["stack"]]
    while at["kind"] != "root":
        at = nodes[at["parent"]]
    return threads.get(at["thread"], {}).get("tid")

for word, kind in (("sleep", "timer"), ("read", "local")):
    mine = sorted((int(f["begin_ns"]), int(f["end_ns"]), int(f["ns"]), f["node"]) for f in waits
                  if f["kind"] == kind and threads[f["thread"]]["tid"] == tids[word])
    for begin, end, ns, node in mine:
        assert any(a <= begin and end <= b for a, b in told[word]), (word, begin, end, told[word])
        assert ns <= end - begin
    if word == "sleep":
        assert len(mine) == len(told[word]), (len(mine), told[word])
        assert all(ns >= int(sys.argv[3]) * 1000000 * 9 // 10 for _, _, ns, _ in mine), mine
    elif mine:
        assert all(waker(node) == tids["sleep"] for *_, node in mine), "who ended the reads"
print("times are those that the program told")
