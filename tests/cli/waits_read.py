#!/usr/bin/env python3
"""waits_read.py KIND WHAT FILE [DUMP]: reads waits in time order from an export in JSON.

KIND is chrome. Readers by the formats' descriptions; nothing is shared with what wrote the file.
WHAT is as for perfetto_read.py: check, compare, stacks or names.
"""

import json
import sys
from collections import Counter, defaultdict
from decimal import Decimal

from perfetto_read import Dump, compare_waits, print_stacks


def nanoseconds(microseconds):
    ns = Decimal(microseconds) * 1000
    assert ns == int(ns)
    return int(ns)


class Chrome:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            trace = json.load(f, parse_float=Decimal)
        self.frames = trace["stackFrames"]
        self.slices, self.wakes, self.threads = [], [], set()
        flows, opened = {"s": {}, "f": {}}, {}
        for e in trace["traceEvents"]:
            tid = e["tid"]
            if e["ph"] == "M":
                self.threads.add(tid)
                continue
            assert tid in self.threads, "a thread without a name"
            if e["ph"] == "X":
                begin = nanoseconds(e["ts"])
                self.add(e, begin, begin + nanoseconds(e["dur"]))
            elif e["ph"] in "sf":
                assert e["id"] not in flows[e["ph"]] and (e["ph"] == "s" or e["bp"] == "e")
                flows[e["ph"]][e["id"]] = tid, nanoseconds(e["ts"])
            elif e["ph"] == "b":
                opened[e["id"]] = e
            else:
                assert e["ph"] == "e", e["ph"]
                begun = opened.pop(e["id"])
                assert all(begun[k] == e[k] for k in ("cat", "name", "pid", "tid"))
                self.add(begun, nanoseconds(begun["ts"]), nanoseconds(e["ts"]), True)
        assert not opened, "an event has no end"
        assert set(flows["s"]) == set(flows["f"]), "an arrow has one end"
        self.check_nesting()
        self.arrows = Counter((flows["s"][i][0], flows["f"][i][0]) for i in flows["s"])
        inside = {(w["tid"], w["time"]) for w in self.wakes}
        assert all(end in inside for ends in flows.values() for end in ends.values())

    def add(self, e, begin, end, below=False):
        s = {"tid": e["tid"], "category": e["cat"], "name": e["name"], "time": begin, "end": end,
             "below": below, "notes": e.get("args", {}), "stack": self.stack(e.get("sf"))}
        (self.wakes if e["cat"] == "wake" else self.slices).append(s)

    def stack(self, sf):
        out = []
        while sf is not None:
            out.append(self.frames[sf]["name"])
            sf = self.frames[sf].get("parent")
        return out[::-1]

    def check_nesting(self):
        """Events of a thread nest, and the end of a sleep lies in its wait."""
        threads = defaultdict(list)
        for s in self.slices + self.wakes:
            if not s["below"]:
                threads[s["tid"]].append(s)
        for events in threads.values():
            around = []
            for s in sorted(events, key=lambda s: (s["time"], -s["end"])):
                while around and around[-1]["end"] <= s["time"]:
                    around.pop()
                assert not around or s["end"] <= around[-1]["end"], "events lie across"
                waits = [a for a in around if a["category"] != "wake"]
                assert not s["name"].startswith("woken by ") or waits, "an arrow ends in no wait"
                around.append(s)


def main():
    trace = {"chrome": Chrome}[sys.argv[1]](sys.argv[3])
    if sys.argv[2] == "check":
        print("slices=%d wakes=%d" % (len(trace.slices), sum(trace.arrows.values())))
    elif sys.argv[2] == "compare":
        print(compare_waits(trace.slices, trace.arrows, Dump(sys.argv[4])))
    elif sys.argv[2] == "stacks":
        print_stacks(trace.slices)
    else:
        for name in sorted({s["name"] for s in trace.slices}):
            print(name)


try:
    main()
except AssertionError as wrong:
    sys.exit("waits_read.py: %s" % (wrong or "an assertion failed"))
