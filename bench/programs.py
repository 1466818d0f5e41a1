"""The programs that are run, and their inputs: the same bytes on every machine."""

import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# How much of everything: "full" is measured, "small" is for the slow tools, "tiny"
# shows that the harness works.
SIZES = ("full", "small", "tiny")


class Program:
    def __init__(self, key, label, argv, env=None):
        self.key = key
        self.label = label
        self.argv = argv
        self.env = env or {}


def numbers():
    """A small generator of its own: random() may change with Python."""
    seed = 1
    while True:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        yield seed >> 8


def write_once(path, text, source=__file__):
    """Fills the file with text() when it is not there or older than what it is made
    from; half a file never is."""
    if older(path, source):
        with open(path + ".part", "w", encoding="ascii") as f:
            f.write(text())
        os.rename(path + ".part", path)
    return path


def older(path, source):
    return not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(source)


def json_text(count):
    draw = numbers()
    lines = []
    for i in range(count):
        n = next(draw)
        lines.append(
            json.dumps(
                {
                    "id": i,
                    "name": "item-%07d" % (n % 10000000),
                    "group": "g%02d" % (n % 40),
                    "price": (next(draw) % 90000) / 100,
                    "tags": ["t%d" % (n % 7), "t%d" % (n % 11), "t%d" % (n % 13)],
                    "size": {"w": n % 1000, "h": i % 1000},
                    "note": "the quick brown fox jumps over the lazy dog"[i % 20 :],
                }
            )
        )
    return "[" + ",\n".join(lines) + "]\n"


def jq(size, directory):
    program = shutil.which("jq")
    count = {"full": 60000, "small": 3000, "tiny": 300}[size]
    path = write_once("%s/items-%d.json" % (directory, count), lambda: json_text(count))
    query = (
        "group_by(.group) | map({group: .[0].group, items: length, "
        "total: (map(.price) | add), names: (map(.name) | unique | length)})"
    )
    return program and Program("jq", "jq", [program, query, path])


def sqlite3(size, directory):
    program = shutil.which("sqlite3")
    rows = {"full": 150000, "small": 8000, "tiny": 500}[size]
    source = HERE + "/inputs/fill.sql"

    def text():
        with open(source, encoding="ascii") as f:
            return f.read().replace(":rows", str(rows))

    path = write_once("%s/fill-%d.sql" % (directory, rows), text, source)
    return program and Program("sqlite3", "sqlite3", [program, ":memory:", ".read " + path])


def python(size, _directory):
    program = "/usr/bin/python3"  # a shim script of that name would be measured as well
    if not os.path.exists(program):
        program = os.path.realpath(sys.executable)
    count = {"full": 100000, "small": 4000, "tiny": 300}[size]
    return Program(
        "python",
        "CPython",
        [program, "-S", HERE + "/inputs/objects.py", str(count)],
        {"PYTHONMALLOC": "malloc", "PYTHONHASHSEED": "1", "PYTHONDONTWRITEBYTECODE": "1"},
    )


def cc1(size, directory):
    compiler = shutil.which("gcc")
    if not compiler:
        return None
    program = subprocess.run(
        [compiler, "-print-prog-name=cc1"], capture_output=True, text=True, check=True
    ).stdout.strip()
    if not os.path.isabs(program):
        return None
    count = {"full": 18, "small": 2, "tiny": 1}[size]
    template = HERE + "/inputs/unit.c.in"

    def text():
        with open(template, encoding="ascii") as f:
            unit = f.read()
        return subprocess.run(
            [compiler, "-E", "-P", "-x", "c", "-"],
            input="".join(unit.replace("@N@", str(i)) for i in range(count)),
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    path = write_once("%s/unit-%d.i" % (directory, count), text, template)
    argv = [program, "-quiet", "-fpreprocessed", "-O2", "-o", "-", path]
    return Program("cc1", "cc1 -O2", argv)


def nest(size, directory):
    """A program with debug information and thousands of stacks, for folding."""
    compiler = shutil.which("gcc")
    count = {"full": 40, "small": 4, "tiny": 2}[size]
    path = "%s/nest-%d" % (directory, count)
    sources = [HERE + "/inputs/unit.c.in", HERE + "/inputs/nest.c.in", __file__]
    if compiler and any(older(path, source) for source in sources):
        with open(sources[0], encoding="ascii") as f:
            unit = f.read()
        with open(sources[1], encoding="ascii") as f:
            end = f.read()
        calls = " ".join("use(%d);" % i for i in range(count))
        with open(path + ".c", "w", encoding="ascii") as f:
            f.write("".join(unit.replace("@N@", str(i)) for i in range(count)))
            f.write(end.replace("@CALLS@", calls))
        argv = [compiler, "-O2", "-g", "-o", path + ".part", path + ".c"]
        subprocess.run(argv, check=True)
        os.rename(path + ".part", path)
    return compiler and Program("nest", "a program with -g", [path])


ALL = {"jq": jq, "sqlite3": sqlite3, "python": python, "cc1": cc1}


def built(name, directory):
    """bench/NAME.c as a program in `directory`, built afresh when it is older."""
    source = "%s/%s.c" % (HERE, name)
    path = "%s/%s" % (directory, name)
    if older(path, source):
        compiler = os.environ.get("CC", "gcc").split()
        subprocess.run(
            compiler + ["-O2", "-g", "-pthread", "-o", path + ".part", source], check=True
        )
        os.rename(path + ".part", path)
    return path
