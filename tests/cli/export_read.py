#!/usr/bin/env python3
"""export_read.py KIND FILE [SERIES]: what an export says, as sorted folded lines.

Readers of their own, by the formats' descriptions: nothing is shared with what wrote
the file. Of series (0 is the first) where the format has several. KIND csv and
callgrind have no stacks and give "SYMBOL SELF TOTAL" lines; "sums" reads folded text
and gives the same lines from the stacks themselves.
"""

import csv
import gzip
import json
import sys
from collections import defaultdict


def load(path):
    with open(path, "rb") as f:
        return json.loads(f.read().decode("utf-8", "strict"))


def place(name, file, line):
    """As folded text has it: a mark stands behind the place."""
    if not file:
        return name
    mark = name[-4:] if name[-4:-2] == "_[" else ""
    return "%s %s:%d%s" % (name[:len(name) - len(mark)], file, line, mark)


def speedscope(path, series):
    profile = load(path)
    frames = [place(f["name"], f.get("file"), f.get("line")) for f in profile["shared"]["frames"]]
    p = profile["profiles"][series]
    assert p["type"] == "sampled" and len(p["samples"]) == len(p["weights"])
    assert p["startValue"] == 0 and abs(p["endValue"] - sum(p["weights"])) < 1e-6
    for stack, weight in zip(p["samples"], p["weights"]):
        yield [frames[i] for i in stack], weight


def d3(path, _):
    todo = [([], load(path))]
    while todo:
        stack, node = todo.pop()
        children = node.get("children", [])
        own = node["value"] - sum(c["value"] for c in children)
        assert own > -1e-6
        yield stack, own
        todo += [(stack + [c["name"]], c) for c in children]


def grafana(path, series):
    (frame,) = load(path)
    names = [f["name"] for f in frame["schema"]["fields"]]
    columns = dict(zip(names, frame["data"]["values"]))
    right = "Right" if series else ""
    own, value = columns["self" + right], columns["value" + right]
    stack, below = [], []
    for i, level in enumerate(columns["level"]):
        assert level <= len(stack)
        while len(stack) > level:
            assert abs(below.pop()) < 1e-6, "value is self and what is below"
            stack.pop()
        if below:
            below[-1] -= value[i]
        stack.append(columns["label"][i])
        below.append(value[i] - own[i])
        yield stack[1:], own[i]
    assert all(abs(b) < 1e-6 for b in below)


def firefox(path, series):
    profile = load(path)
    shared, thread = profile["shared"], profile["threads"][series]
    strings, frame, func = shared["stringArray"], shared["frameTable"], shared["funcTable"]
    table = shared["stackTable"]
    marks = {"Kernel": "_[k]", "JIT": "_[j]", "Inlined": "_[i]", "Waker": "_[w]",
             "Off-CPU": "_[o]", "Other": ""}
    categories = [c["name"] for c in profile["meta"]["categories"]]
    for part in (frame, func, table, shared["sources"]):
        assert all(len(c) == part["length"] for c in part.values() if isinstance(c, list))

    def name(i):
        f = frame["func"][i]
        source = func["source"][f]
        file = None if source is None else strings[shared["sources"]["filename"][source]]
        return place(strings[func["name"][f]] + marks[categories[frame["category"][i]]], file,
                     frame["line"][i] or 0)

    samples = thread.get("nativeAllocations") or thread["samples"]
    assert samples["length"] == len(samples["stack"]) == len(samples["weight"]) == \
        len(samples["time"])
    assert samples["time"] == sorted(samples["time"])
    for at, weight in zip(samples["stack"], samples["weight"]):
        stack = []
        while at is not None:
            stack.append(name(table["frame"][at]))
            assert table["prefix"][at] is None or table["prefix"][at] < at
            at = table["prefix"][at]
        yield stack[::-1], weight


def fields(data):
    """The fields of a protocol buffer: (number, value), value an int or bytes."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, "wire type"
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
            assert at <= len(data)


def packed(value):
    if isinstance(value, int):
        return [value]
    out, v, shift = [], 0, 0
    for byte in value:
        v |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(v - (1 << 64) if v >> 63 else v)
            v = shift = 0
    return out


def pprof(path, series):
    with gzip.open(path) as f:
        data = f.read()
    strings, functions, locations, samples = [], {}, {}, []
    for number, value in fields(data):
        if number == 6:
            strings.append(value.decode("utf-8", "strict"))
        elif number == 5:
            functions[dict(fields(value))[1]] = dict(fields(value))
        elif number == 4:
            lines = [dict(fields(v)) for n, v in fields(value) if n == 4]
            locations[dict(fields(value))[1]] = lines
        elif number == 2:
            ids, values = [], []
            for n, v in fields(value):
                (ids if n == 1 else values).extend(packed(v))
            samples.append((ids, values))
    assert strings[0] == ""
    for ids, values in samples:
        stack = []
        for i in ids:
            for k, line in enumerate(locations[i]):
                f = functions[line[1]]
                file = strings[f[4]] if f.get(4) else None
                mark = "_[i]" if k + 1 < len(locations[i]) else ""
                stack.append(place(strings[f.get(2, 0)] + mark, file, line.get(2, 0)))
        yield stack[::-1], values[series]


def write_stacks(stacks):
    sums = defaultdict(float)
    for stack, count in stacks:
        sums[";".join(stack)] += count
    lines = ["%s %s" % (s or ";", number(c)) for s, c in sums.items() if c]
    sys.stdout.buffer.write("".join(l + "\n" for l in sorted(lines)).encode())


def number(v):
    return "%d" % v if v == int(v) else ("%.9f" % v).rstrip("0")


def write_sums(self, total):
    lines = ["%s %s %s\n" % (n, number(self[n]), number(total[n])) for n in total]
    sys.stdout.buffer.write("".join(sorted(lines)).encode())


def sums_of_folded(path):
    self, total = defaultdict(float), defaultdict(float)
    for line in open(path, encoding="utf-8"):
        if line.startswith("# "):
            continue
        stack, count = line.rsplit(" ", 1)
        frames = stack.split(";")
        self[frames[-1]] += float(count)
        for frame in set(frames):
            total[frame] += float(count)
    return self, total


def sums_of_csv(path, series):
    self, total = defaultdict(float), defaultdict(float)
    for i, row in enumerate(csv.reader(open(path, encoding="utf-8", newline=""))):
        if i == 0:
            assert row[:3] == ["symbol", "file", "line"]
            continue
        name = place(row[0], row[1], int(row[2] or 0))
        self[name] += float(row[3 + 2 * series])
        total[name] += float(row[4 + 2 * series])
    return self, total


def sums_of_callgrind(path, series):
    """By function: what a line costs, and what all calls into it do."""
    self, total = defaultdict(float), defaultdict(float)
    names, fn, cfn, call, want = {}, None, None, False, None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        key, _, value = line.partition("=")
        if key in ("fn", "cfn"):
            number_, _, name = value.partition(" ")
            if name:
                assert number_ not in names, "defined once"
                names[number_] = name
            if key == "fn":
                fn = names[number_]
            else:
                cfn = names[number_]
        elif key == "calls":
            call = True
        elif line.startswith("summary: "):
            want = float(line.split()[1 + series])
        elif line and line[0].isdigit():
            cost = float(line.split()[1 + series])
            (total if call else self)[cfn if call else fn] += cost
            call = False
    assert abs(sum(self.values()) - want) < 1e-6, "the summary"
    return self, total


def main():
    kind, path = sys.argv[1:3]
    series = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    if kind == "sums":
        write_sums(*sums_of_folded(path))
    elif kind == "csv":
        write_sums(*sums_of_csv(path, series))
    elif kind == "callgrind":
        write_sums(*sums_of_callgrind(path, series))
    else:
        write_stacks(globals()[kind](path, series))


if __name__ == "__main__":
    main()
