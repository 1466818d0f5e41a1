#!/usr/bin/env python3
"""waits_read.py KIND WHAT FILE [DUMP]: reads waits in time order from an export in JSON.

KIND is chrome or firefox. Readers by the formats' descriptions; nothing is shared with what wrote the file.
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


def from_ms(ms):
    return nanoseconds(Decimal(ms) * 1000)


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


class Firefox:
    """Markers of version 60 of the processed profile. Threads of views have none."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            profile = json.load(f, parse_float=Decimal)
        self.shared = profile["shared"]
        self.strings = self.shared["stringArray"]
        self.schemas = {s["name"]: {f["key"]: f["format"] for f in s["fields"]}
                        for s in profile["meta"]["markerSchema"]}
        self.categories = [c["name"] for c in profile["meta"]["categories"]]
        self.slices, self.begins, self.ends = [], {}, {}
        for thread in profile["threads"]:
            markers = thread["markers"]
            assert all(len(c) == markers["length"] for c in markers.values()
                       if isinstance(c, list)), "columns of different lengths"
            for i in range(markers["length"]):
                self.add(thread, {k: v[i] for k, v in markers.items() if isinstance(v, list)})
        assert len(profile["meta"]["initialVisibleThreads"]) == len(profile["threads"])
        assert set(self.begins) == set(self.ends), "a flow has one end"
        self.arrows = Counter((self.begins[f], self.ends[f]) for f in self.begins)

    def add(self, thread, marker):
        data = marker["data"]
        kind, tid, begin = data["type"], thread["tid"], from_ms(marker["startTime"])
        assert from_ms(thread["registerTime"]) <= begin, "a marker before its thread"
        for key in set(data) - {"type", "cause", "part"}:
            assert key in self.schemas[kind], "a field that no schema has"
        if "flow" in data:
            ends = {"Wake": self.begins, "Wait": self.ends}[kind]
            assert data["flow"] not in ends and self.strings[data["flow"]].startswith("wake ")
            ends[data["flow"]] = tid
        if kind == "Wake":
            assert marker["phase"] == 0 and marker["endTime"] is None
            assert self.categories[marker["category"]] == "Waker"
            self.stack(data["cause"]["stack"])
            return
        assert marker["phase"] == 1 and self.categories[marker["category"]] == "Off-CPU"
        notes = {}
        if kind == "Waits":
            notes = {"waits": data["waits"], "asleep_ns": from_ms(data.get("asleep", 0)),
                     "run_queue_ns": from_ms(data.get("runq", 0))}
        elif "other" in data:
            notes["not_waiting_ns"] = from_ms(data["other"])
        if "part" in data:
            notes["part_of_the_next_wait"] = 1
        assert from_ms(data["cause"]["time"]) == begin
        self.slices.append({"tid": tid, "category": data["kind"], "below": kind == "Waits",
                            "name": self.strings[marker["name"]], "time": begin, "notes": notes,
                            "end": from_ms(marker["endTime"]),
                            "stack": self.stack(data["cause"]["stack"])})

    def stack(self, at):
        table, out = self.shared["stackTable"], []
        while at is not None:
            func = self.shared["frameTable"]["func"][table["frame"][at]]
            out.append(self.strings[self.shared["funcTable"]["name"][func]])
            assert table["prefix"][at] is None or table["prefix"][at] < at
            at = table["prefix"][at]
        return out[::-1]


def main():
    trace = {"chrome": Chrome, "firefox": Firefox}[sys.argv[1]](sys.argv[3])
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
