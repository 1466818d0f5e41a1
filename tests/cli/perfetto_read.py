#!/usr/bin/env python3
"""perfetto_read.py WHAT FILE [DUMP]: reads a Perfetto trace of flame's.

A decoder and a replay of their own, by Perfetto's descriptions of its messages and the rules by
which its importer takes scheduler events; nothing is shared with what wrote the file. A field that
is not in MESSAGES, a number that refers to nothing, and an event that the importer would drop or
misread end the program with a message.

  check     the file is good; prints its counts
  compare   the same waits, wakes and times as DUMP, the output of `flame dump` of the recording
  stacks    the waits as folded stacks, nanoseconds
  names     the names of slices, a line each
  parents   each process with its parent
  counters  each counter with its values: nanoseconds from the begin of the first slice, and bytes
"""

import struct
import sys
from collections import Counter, defaultdict

NUMBER, TEXT, FIXED, PACKED = "number", "text", "fixed", "packed"

ROW = {1: ("iid", NUMBER), 2: ("text", TEXT)}
SCHED = {
    1: ("switch_time", PACKED), 2: ("switch_state", PACKED), 3: ("switch_tid", PACKED),
    4: ("switch_priority", PACKED), 5: ("names", TEXT), 6: ("switch_name", PACKED),
    7: ("wake_time", PACKED), 8: ("wake_tid", PACKED), 9: ("wake_cpu", PACKED),
    10: ("wake_priority", PACKED), 11: ("wake_name", PACKED), 12: ("wake_flags", PACKED),
}
TREE = {
    1: ("processes", {1: ("pid", NUMBER), 2: ("parent", NUMBER), 3: ("command", TEXT)}),
    2: ("threads", {1: ("tid", NUMBER), 2: ("name", TEXT), 3: ("pid", NUMBER)}),
}
TRACK = {
    1: ("id", NUMBER), 2: ("name", TEXT), 5: ("parent", NUMBER), 8: ("counter", {3: ("unit", NUMBER)}),
    4: ("thread", {1: ("pid", NUMBER), 2: ("tid", NUMBER), 5: ("name", TEXT)}),
}
EVENT = {
    3: ("category", NUMBER), 9: ("type", NUMBER), 10: ("name_iid", NUMBER), 11: ("track", NUMBER),
    23: ("name", TEXT), 30: ("value", NUMBER), 47: ("flow", FIXED), 48: ("flow_ends", FIXED), 56: ("stack", NUMBER),
    4: ("annotation", {1: ("name_iid", NUMBER), 3: ("value", NUMBER)}),
}
TABLES = {
    1: ("categories", ROW), 2: ("event_names", ROW), 3: ("notes", ROW), 5: ("functions", ROW),
    17: ("paths", ROW), 18: ("sources", ROW),
    6: ("frames", {1: ("iid", NUMBER), 2: ("function", NUMBER), 3: ("mapping", NUMBER),
                   4: ("position", NUMBER), 5: ("source", NUMBER), 6: ("line", NUMBER)}),
    7: ("stacks", {1: ("iid", NUMBER), 2: ("frame", NUMBER)}),
    19: ("mappings", {1: ("iid", NUMBER), 7: ("path", NUMBER)}),
}
PACKET = {
    1: ("ftrace", {1: ("cpu", NUMBER), 4: ("sched", SCHED)}), 2: ("tree", TREE),
    8: ("time", NUMBER), 10: ("sequence", NUMBER), 11: ("event", EVENT), 12: ("tables", TABLES),
    13: ("flags", NUMBER), 60: ("track", TRACK), 87: ("first", NUMBER),
}
MESSAGES = {1: ("packet", PACKET)}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            assert value < 1 << 64
            return value, at


def decode(data, message):
    """A message as a dictionary of lists."""
    out, at = defaultdict(list), 0
    while at < len(data):
        key, at = varint(data, at)
        assert key >> 3 in message, "field %d is not one of %s" % (key >> 3, list(message.values()))
        name, kind = message[key >> 3]
        if kind == NUMBER:
            assert key & 7 == 0, name
            value, at = varint(data, at)
        elif kind == FIXED:
            assert key & 7 == 1, name
            (value,) = struct.unpack_from("<Q", data, at)
            at += 8
        else:
            assert key & 7 == 2, name
            size, at = varint(data, at)
            assert at + size <= len(data), name
            value, at = data[at:at + size], at + size
            if kind == TEXT:
                value = value.decode("utf-8", "strict")
            elif kind == PACKED:
                packed, k = value, 0
                while k < len(packed):
                    number, k = varint(packed, k)
                    out[name].append(number)
                continue
            else:
                value = decode(value, kind)
        out[name].append(value)
    return out


def one(message, name, missing=None):
    values = message.get(name, [])
    assert len(values) <= 1, name
    return values[0] if values else missing


class Tables:
    """The tables of a sequence. A number is defined before it is used, and once."""

    def __init__(self):
        self.rows = defaultdict(dict)

    def add(self, tables):
        for table, rows in tables.items():
            for row in rows:
                iid = one(row, "iid")
                assert iid, "number 0 means none"
                assert iid not in self.rows[table], "defined twice"
                self.rows[table][iid] = row
        for row in tables.get("mappings", []):
            for path in row["path"]:
                self.text("paths", path)

    def text(self, table, iid):
        return one(self.rows[table][iid], "text", "")

    def stack(self, iid):
        out = []
        for frame in self.rows["stacks"][iid]["frame"]:
            row = self.rows["frames"][frame]
            assert one(row, "mapping") in self.rows["mappings"] and one(row, "position")
            if one(row, "source"):
                self.text("sources", one(row, "source"))
            out.append(self.text("functions", one(row, "function")))
        assert out, "an empty stack"
        return out


class Trace:
    def __init__(self, path):
        with open(path, "rb") as f:
            packets = decode(f.read(), MESSAGES)["packet"]
        self.tables, self.first = Tables(), False
        self.tracks, self.slices, self.instants, self.sched = {}, [], [], []
        self.pids, self.parents, self.counters = {}, {}, {}
        open_slices = defaultdict(list)
        events = []
        for packet in packets:
            if one(packet, "sequence") == 1:
                assert one(packet, "flags", 0) & (2 if self.first else 3), "without its tables"
                assert bool(one(packet, "first", 0)) != self.first
                self.first = True
            else:
                assert one(packet, "sequence") == 2 and "tables" not in packet
            self.tables.add(one(packet, "tables", {}))
            if "track" in packet:
                self.add_track(one(packet, "track"))
            if "event" in packet:
                events.append((one(packet, "time"), len(events), one(packet, "event")))
            if "tree" in packet:
                self.add_tree(one(packet, "tree"))
            if "ftrace" in packet:
                self.add_sched(one(packet, "ftrace"))
        # As the importer does: by time, and what is at one time in the order of the file.
        for time, _, event in sorted(events, key=lambda e: e[:2]):
            self.add_event(time, event, open_slices[one(event, "track")])
        assert not any(open_slices.values()), "a slice has no end"
        self.check_flows()

    def add_track(self, track):
        thread, parent = one(track, "thread"), one(track, "parent")
        if "counter" in track:
            assert one(one(track, "counter"), "unit") == 3 and parent is None and thread is None
            self.counters[one(track, "id")] = one(track, "name"), []
            return
        assert (thread is None) != (parent is None) and one(track, "id") not in self.tracks
        self.tracks[one(track, "id")] = \
            one(thread, "tid") if thread is not None else self.tracks[parent]

    def add_tree(self, tree):
        for process in tree["processes"]:
            assert one(process, "pid") not in self.parents
            self.parents[one(process, "pid")] = one(process, "parent", 0)
        for thread in tree["threads"]:
            assert one(thread, "pid") in self.parents
            self.pids[one(thread, "tid")] = one(thread, "pid")

    def add_event(self, time, event, opened):
        kind, track = one(event, "type"), one(event, "track")
        if kind == 4:
            self.counters[track][1].append((time, one(event, "value")))
            return
        what = {"time": time, "tid": self.tracks[track], "track": track}
        what["below"] = track >> 32 > 0
        if kind == 2:
            assert opened, "an end without a begin"
            opened.pop()["end"] = time
            return
        what["category"] = self.tables.text("categories", one(event, "category"))
        what["name"] = one(event, "name") or self.tables.text("event_names", one(event, "name_iid"))
        what["stack"] = self.tables.stack(one(event, "stack")) if "stack" in event else None
        what["notes"] = {self.tables.text("notes", one(a, "name_iid")): one(a, "value")
                         for a in event["annotation"]}
        what["flow"], what["flow_ends"] = event["flow"], event["flow_ends"]
        if kind == 1:
            assert not opened, "waits of one track overlap"
            opened.append(what)
            self.slices.append(what)
        else:
            assert kind == 3
            what["inside"] = opened[-1] if opened else None
            self.instants.append(what)

    def check_flows(self):
        begins = Counter(f for i in self.instants for f in i["flow"])
        ends = Counter(f for i in self.instants for f in i["flow_ends"])
        assert begins == ends and set(begins.values()) <= {1}, "flows have one begin and one end"
        for i in self.instants:
            if i["flow_ends"]:
                assert i["inside"] and i["time"] > i["inside"]["time"], "an arrow ends in no wait"

    def add_sched(self, bundle):
        cpu, sched = one(bundle, "cpu"), one(bundle, "sched")
        assert cpu is not None and cpu < 4096
        for kind in ("switch", "wake"):
            names = {k: v for k, v in sched.items() if k.startswith(kind)}
            assert len({len(v) for v in names.values()}) <= 1, "columns of different lengths"
            time = 0
            for i, later in enumerate(sched[kind + "_time"]):
                time += later
                rest = {k.split("_")[1]: v[i] for k, v in names.items()}
                assert rest["name"] < len(sched["names"])
                rest.update(time=time, cpu=cpu, kind=kind, comm=sched["names"][rest["name"]],
                            order=len(self.sched))
                self.sched.append(rest)


class Replay:
    """The importer's thread states. A tie between processors has no defined order, so it may not
    matter: the states that an event needs have to be older than the event."""

    def __init__(self, trace):
        self.runs, self.state = {}, {}
        self.spent, self.wakes, self.irqs = Counter(), Counter(), Counter()
        times = {}
        for e in sorted(trace.sched, key=lambda e: (e["time"], e["order"])):
            assert e["order"] > times.get((e["cpu"], e["kind"], e["time"]), -1)
            times[e["cpu"], e["kind"], e["time"]] = e["order"]
            assert e["tid"] == 0 or e["tid"] in trace.pids, "a thread of no process"
            (self.switch if e["kind"] == "switch" else self.wake)(e)
        for tid, (state, _) in self.state.items():
            assert state == "X", "thread %d is left %s" % (tid, state)

    def enter(self, tid, state, time):
        if not tid:
            return
        if tid in self.state:
            before, since = self.state[tid]
            assert time >= since
            self.spent[tid, before] += time - since
        self.state[tid] = (state, time)

    def switch(self, e):
        cpu, tid = e["cpu"], e["tid"]
        if cpu not in self.runs: # the importer discards a processor's first switch
            assert tid == 0, "a switch that is discarded"
            self.runs[cpu] = (0, e["time"])
            return
        before = self.runs[cpu][0]
        if before:
            assert self.state[before][0] == "Running", "a thread stops that does not run"
            self.enter(before, {0: "R", 1: "S", 16: "X"}[e["state"]], e["time"])
        else:
            assert e["state"] == 0
        if tid:
            assert self.state.get(tid, ("S",))[0] in "SR", "a thread runs twice"
        self.enter(tid, "Running", e["time"])
        self.runs[cpu] = (tid, e["time"])

    def wake(self, e):
        assert e["cpu"] in self.runs, "a wake that is discarded"
        waker, since = self.runs[e["cpu"]]
        assert since < e["time"], "a wake at the time of a switch"
        state, since = self.state[e["tid"]]
        assert state == "S" and since < e["time"], "a thread is woken that does not sleep"
        if e["flags"] & 0x18:
            assert waker == 0
            self.irqs[e["tid"]] += 1
        else:
            assert waker and self.state[waker][0] == "Running", "a waker that does not run"
            self.wakes[waker, e["tid"]] += 1
        self.enter(e["tid"], "R", e["time"])


class Dump:
    """The recording by `flame dump`: single waits, sums and wakers."""

    def __init__(self, path):
        threads, nodes = {}, {}
        self.waits, self.length, self.summed = Counter(), Counter(), Counter()
        self.wakes, self.states = Counter(), Counter()
        with open(path, encoding="utf-8", errors="surrogateescape") as f:
            for line in f:
                what, *words = line.split()
                v = dict(w.split("=", 1) for w in words if "=" in w)
                if what == "thread":
                    threads[v["id"]] = int(v["tid"])
                elif what == "node":
                    nodes[v["id"]] = v
                elif what == "interval" and "is" in v:
                    self.add(v, threads, nodes)

    def add(self, v, threads, nodes):
        tid, node = threads[v["thread"]], nodes[v["node"]]
        key = tid, v["kind"]
        if v["is"] == "sum":
            self.waits[key] += int(v["times"])
            self.summed[key] += int(v["times"])
            self.length[key] += int(v["ns"]) + int(v["runq_ns"])
        elif v["is"] in ("sleep", "part"):
            self.waits[key] += v["is"] == "sleep"
            self.length[key] += int(v["ns"]) + int(v["runq_ns"])
            self.states[tid] += int(v["end_ns"]) - int(v["begin_ns"])
        if v["is"] != "sleep":
            return
        while node["kind"] == "waker" and nodes[node["parent"]]["kind"] == "waker":
            node = nodes[node["parent"]] # of a chain, the first
        if node["kind"] == "waker":
            node = nodes[node["stack"]]
            while node["parent"] != "0":
                node = nodes[node["parent"]]
            if node["thread"] != "0":
                self.wakes[threads[node["thread"]], tid] += 1


def same(name, got, want):
    got, want = +got, +want
    assert got == want, "%s: %s" % (name, {k: (got[k], want[k]) for k in set(got) | set(want)
                                          if got[k] != want[k]})


def compare_waits(slices, arrows, dump):
    """Slices and arrows (waker, sleeper) of any format against the recording."""
    waits, length, summed = Counter(), Counter(), Counter()
    for s in slices:
        key, notes = (s["tid"], s["category"]), s["notes"]
        assert ("waits" in notes) == s["below"], "sums lie below the thread's track"
        if s["below"]:
            assert s["name"].startswith("%d waits: " % notes["waits"]), s["name"]
            summed[key] += notes["waits"]
        waits[key] += notes.get("waits", "part_of_the_next_wait" not in notes)
        length[key] += notes["asleep_ns"] + notes["run_queue_ns"] if s["below"] else \
            s["end"] - s["time"] - notes.get("not_waiting_ns", 0)
    same("waits by thread and kind", waits, dump.waits)
    same("their lengths", length, dump.length)
    same("of these, those in sums", summed, dump.summed)
    same("arrows by waker and sleeper", arrows, dump.wakes)
    return "waits=%d sums=%d wakes=%d" % (sum(waits.values()), sum(summed.values()),
                                           sum(arrows.values()))


def compare(trace, replay, dump):
    ends = {f: i["tid"] for i in trace.instants for f in i["flow_ends"]}
    found = compare_waits(trace.slices, Counter((i["tid"], ends[f]) for i in trace.instants
                                                for f in i["flow"]), dump)
    states = Counter()
    for (tid, state), ns in replay.spent.items():
        if state in "SR":
            states[tid] += ns
    same("time asleep and runnable by thread", states, dump.states)
    same("wakes by waker and sleeper", replay.wakes, dump.wakes)
    return found


def print_stacks(slices):
    for s in slices:
        print(";".join(s["stack"]), s["end"] - s["time"] - s["notes"].get("not_waiting_ns", 0))


def main():
    trace = Trace(sys.argv[2])
    replay = Replay(trace)
    if sys.argv[1] == "check":
        print("slices=%d wakes=%d threads=%d processes=%d" %
              (len(trace.slices), sum(replay.wakes.values()), len(trace.pids), len(trace.parents)))
    elif sys.argv[1] == "compare":
        print(compare(trace, replay, Dump(sys.argv[3])))
    elif sys.argv[1] == "stacks":
        print_stacks(trace.slices)
    elif sys.argv[1] == "names":
        for name in sorted({s["name"] for s in trace.slices}):
            print(name)
    elif sys.argv[1] == "counters":
        zero = min(s["time"] for s in trace.slices)
        for name, values in trace.counters.values():
            for time, value in values:
                print(name.split()[0], time - zero, value)
    else:
        for pid, parent in sorted(trace.parents.items()):
            print(pid, parent)


if __name__ == "__main__":
    try:
        main()
    except AssertionError as wrong:
        sys.exit("perfetto_read.py: %s" % (wrong or "an assertion failed"))
