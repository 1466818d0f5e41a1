#!/usr/bin/env python3
"""export_read.py KIND FILE [SERIES]: prints an export as sorted folded lines.

Readers of their own, by the formats' descriptions: nothing is shared with what wrote
the file. Of series (0 is the first) where the format has several. KIND csv and
callgrind have no stacks and give "SYMBOL SELF TOTAL" lines; "sums" reads folded text
and gives the same lines from the stacks themselves; "otlp_facts" says what an OTLP file has
beside its stacks.
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


# Fields of OTLP's profiles (v1development, 1.11.0), by message: number to name.
OTLP = {
    "data": {1: "resource_profiles", 2: "dictionary"},
    "dictionary": {1: "mapping", 2: "location", 3: "function", 4: "link", 5: "string",
                   6: "attribute", 7: "stack"},
    "resource_profiles": {1: "resource", 2: "scope_profiles"},
    "resource": {1: "attributes"},
    "attributes": {1: "key", 2: "any"},
    "any": {1: "text"},
    "scope_profiles": {1: "scope", 2: "profile"},
    "scope": {1: "name"},
    "profile": {1: "type", 2: "sample", 5: "type", 6: "period"},
    "type": {1: "name", 2: "unit"},
    "sample": {1: "stack", 4: "values"},
    "mapping": {4: "filename"},
    "location": {1: "mapping", 3: "line"},
    "line": {1: "function", 2: "line"},
    "function": {1: "name", 3: "filename"},
    "link": {}, "attribute": {}, "stack": {1: "locations"},
}


def otlp_message(kind, data):
    """A message's fields, each with all its values: no field that it does not have."""
    out = defaultdict(list)
    for n, value in fields(data):
        assert n in OTLP[kind], "%s has a field %d" % (kind, n)
        out[n].append(value)
    return out


def otlp_one(kind, message, number, default=0):
    assert len(message[number]) <= 1, "%s: field %d twice" % (kind, number)
    return message[number][0] if message[number] else default


def otlp_tables(dictionary):
    tables = {}
    for n, name in OTLP["dictionary"].items():
        rows = dictionary[n]
        assert rows and rows[0] == b"", "the first row of each table stands for nothing"
        tables[name] = [r.decode("utf-8", "strict") if name == "string" else otlp_message(name, r)
                        for r in rows]
    assert len(set(dictionary[5])) == len(dictionary[5]), "no string twice"
    return tables


def otlp_type(tables, data):
    t = otlp_message("type", data)
    return [tables["string"][otlp_one("type", t, n)] for n in (1, 2)]


def otlp_load(path):
    """The tables, the scope, the resource's attributes and the profiles."""
    with open(path, "rb") as f:
        data = otlp_message("data", f.read())
    tables = otlp_tables(otlp_message("dictionary", otlp_one("data", data, 2)))
    top = otlp_message("resource_profiles", otlp_one("data", data, 1))
    resource = {}
    for raw in otlp_message("resource", otlp_one("resource_profiles", top, 1))[1]:
        pair = otlp_message("attributes", raw)
        any_value = otlp_message("any", otlp_one("attributes", pair, 2))
        resource[pair[1][0].decode()] = otlp_one("any", any_value, 1).decode()
    scope = otlp_message("scope_profiles", otlp_one("resource_profiles", top, 2))
    assert otlp_message("scope", otlp_one("scope_profiles", scope, 1)) == {1: [b"flame"]}
    return tables, resource, [otlp_message("profile", p) for p in scope[2]]


def otlp_frames(tables, location):
    lines = [otlp_message("line", raw) for raw in location[3]]
    assert lines, "a location is some function's"
    assert otlp_one("location", location, 1) < len(tables["mapping"])
    for k, line in enumerate(lines):
        index = otlp_one("line", line, 1)
        assert index, "a function that stands for nothing"
        f = tables["function"][index]
        name = tables["string"][otlp_one("function", f, 1)]
        yield place(name + ("_[i]" if k + 1 < len(lines) else ""),
                    tables["string"][otlp_one("function", f, 3)], otlp_one("line", line, 2))


def otlp(path, series):
    tables, _, profiles = otlp_load(path)
    for raw in profiles[series][2]:
        sample = otlp_message("sample", raw)
        ids = tables["stack"][otlp_one("sample", sample, 1)][1]
        values = packed(otlp_one("sample", sample, 4))
        assert len(values) == 1, "one value a sample without times"
        stack = []
        for i in packed(ids[0]) if ids else []:
            assert i, "a location that stands for nothing"
            stack.extend(otlp_frames(tables, tables["location"][i]))
        yield stack[::-1], values[0]


def otlp_facts(path):
    """Prints the attributes of the profiles, a line each."""
    tables, resource, profiles = otlp_load(path)
    for key in sorted(resource):
        print("resource %s=%s" % (key, resource[key]))
    for mapping in tables["mapping"][1:]:
        print("mapping", tables["string"][otlp_one("mapping", mapping, 4)])
    for p in profiles:
        print("profile", *otlp_type(tables, otlp_one("profile", p, 1)))
        if p[5]:
            print("period", otlp_one("profile", p, 6), *otlp_type(tables, p[5][0]))


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
    if kind == "otlp_facts":
        otlp_facts(path)
    elif kind == "sums":
        write_sums(*sums_of_folded(path))
    elif kind == "csv":
        write_sums(*sums_of_csv(path, series))
    elif kind == "callgrind":
        write_sums(*sums_of_callgrind(path, series))
    else:
        write_stacks(globals()[kind](path, series))


if __name__ == "__main__":
    main()
