#!/usr/bin/env python3
"""mutants.py: changes one operator, constant or return of the sources, or one column of a
table's row at a time and sees whether a unit test notices. `make mutants` runs it; see --help
and CONTRIBUTING.md.

Everything happens in a copy of the tree in --dir: sources and objects are copied there, a
mutant is one object compiled anew, linked before the tests' library, in each test that has
that object in it. A mutant whose object is the original's is no mutant. Tests run in a
process name space of their own where the kernel allows one, with limits on time, memory and
file size, and are killed as a group.

Survivors are listed with their line; those in scripts/mutants.equivalent, which cannot be
noticed for a reason given there, are left out.
"""
import argparse
import collections
import glob
import os
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

OPERATORS = [
    (r"<(?![<=])", "<="), (r"<=", "<"), (r"(?<![->])>(?![>=])", ">="), (r">=", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )&(?= )", "|"),
    (r"(?<= )\|(?= )", "&"), (r"<<", ">>"), (r">>", "<<"), (r"\+=", "-="), (r"-=", "+="),
    (r"(?<![=!])!(?![=])", ""), (r"~", ""), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
]
# Calls that must not be mutated even in a copy: they reach other processes and files.
DANGEROUS = re.compile(r"\b(kill|tgkill|unlink\w*|rename\w*|rmdir|exec\w*|truncate|ftruncate)\s*\(")
LIMITS = [(resource.RLIMIT_DATA, 3 << 30), (resource.RLIMIT_FSIZE, 1 << 30),
          (resource.RLIMIT_CORE, 0)]

Mutant = collections.namedtuple("Mutant", "path line before after text")


def code_of(text):
    """The text with comments, strings and preprocessor lines made blank, as long as it was."""
    def blank(m):
        return re.sub(r"[^\n]", " ", m.group(0))
    text = re.sub(r"/\*.*?\*/|//[^\n]*", blank, text, flags=re.S)
    text = re.sub(r'"(\\.|[^"\\\n])*"|\'(\\.|[^\'\\\n])*\'', blank, text)
    return re.sub(r"^[ \t]*#(.*\\\n)*.*$", blank, text, flags=re.M)


def changes(line):
    """(from, to, new text) of each change in one line of code."""
    for pattern, to in OPERATORS:
        for m in re.finditer(pattern, line):
            yield m.start(), m.end(), to
    # More memory than is used makes no difference.
    if not re.search(r"\bx(malloc|calloc|realloc|reallocarray)\(", line):
        for m in re.finditer(r"(?<![\w.])(\d+)(?=[uUlL]*\b)(?![\w.]*x)", line):
            yield m.start(1), m.end(1), str(int(m.group(1), 10) + 1)
    m = re.match(r"\s*return ([^;]+);", line)
    if m and m.group(1).strip() not in ("0", "NULL", "true", "false"):
        yield m.start(1), m.end(1), "0"
    m = re.match(r"\s*(?:\} else )?if \((.*)\)(?: \{)?$", line)
    if m:
        yield m.start(1), m.end(1), "0"
        yield m.start(1), m.end(1), "1"
    m = re.match(r"\s+([a-z_]\w*\(.*\));$", line)
    # The leak checker covers calls that free memory.
    if m and not re.match(r"\s+(\w+_)?(free|release|unref)\(", line):
        yield m.start(1), m.end(1), ""


def row_changes(line, code):
    """(from, to, new text) of each change in a table row: a flag or a named column left out, a
    number, a name or a word of a column changed."""
    for flag in (r"\b[A-Z_]\w* \| ", r"(?<=\w) \| [A-Z_]\w*(?! \|)"):
        for m in re.finditer(flag, code):
            yield m.start(), m.end(), ""
    # A row's column with its value, and what divides it from the next.
    for m in re.finditer(r"(?<![\w.])\.(?!help|arg)\w+ = (\{[^{}]*\}|[^{},]+)(, ?)?", code):
        yield m.start(), m.end(), ""
    for m in re.finditer(r"(?<![\w.])(\d+)(?=[uUlL]*\b)(?![\w.]*x)", code):
        yield m.start(1), m.end(1), str(int(m.group(1), 10) + 1)
    for m in re.finditer(r'"([^"\\]+)"', line):
        # Text for people is not mutated.
        if not code[m.start():m.end()].strip() and not re.search(r"\.(help|arg) = *$|^ *$",
                                                                 line[:m.start()]):
            yield m.start(1), m.end(1), m.group(1) + "x"
    for m in re.finditer(r"(?<=, )[A-Z_]\w*(?=,|\})", code):
        yield m.start(), m.end(), "0"


def mutants_of(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    at, inside, table = 0, False, False
    for number, (line, code) in enumerate(zip(text.splitlines(True), code_of(text).splitlines(True)), 1):
        # Only lines in functions and in tables are changed: other declarations have nothing that a
        # test could notice.
        inside = inside or line.startswith("{")
        if line.startswith("}"):
            inside = table = False
        found = ()
        if table:
            found = row_changes(line, code.rstrip("\n"))
        elif inside and not DANGEROUS.search(code):
            found = changes(code.rstrip("\n"))
        for start, end, to in found:
            yield Mutant(path, number, line.strip(), (line[:start] + to + line[end:]).strip(),
                         text[:at + start] + to + text[at + end:])
        # Tables of structs, which decide like code.
        table = table or re.match(r"(static )?const struct \w+ \w+\[\w*\] = \{$", line) is not None
        at += len(line)


def inside_limits():
    os.setsid()
    for what, most in LIMITS:
        resource.setrlimit(what, (most, most))


def run(argv, seconds, **more):
    """The status; None when it took too long. Ends the whole group that it started."""
    p = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, preexec_fn=inside_limits, **more)
    try:
        return p.wait(seconds)
    except subprocess.TimeoutExpired:
        return None
    finally:
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()


class Copy:
    """The copy of the tree, and how it is built."""

    def __init__(self, a):
        self.o, self.dir = a.o, a.dir
        self.cc = [w for w in shlex.split(os.environ["MUTANTS_CC"]) if w not in ("-g", "-Werror")]
        self.libs = shlex.split(os.environ["MUTANTS_LIBS"])
        self.prefix = ["unshare", "-rpf", "--kill-child", "--mount-proc"]
        shutil.rmtree(self.dir, ignore_errors=True)
        for path in subprocess.check_output(["git", "ls-files"], text=True).splitlines():
            if os.path.isfile(path):
                os.makedirs(os.path.join(self.dir, os.path.dirname(path)), exist_ok=True)
                shutil.copy2(path, os.path.join(self.dir, path))
        for part in ("obj", "generated", "tests/unit"):
            shutil.copytree(os.path.join(self.o, part), os.path.join(self.dir, self.o, part))
        shutil.copy2(os.path.join(self.o, "libflame-test.a"), os.path.join(self.dir, self.o))
        if run(self.prefix + ["true"], 10) != 0:
            self.prefix = []
        self.seconds = {}

    def symbols(self, path):
        out = subprocess.run(["nm", "--defined-only", path], cwd=self.dir, text=True,
                             capture_output=True, check=False).stdout
        return {w[2] for w in map(str.split, out.splitlines()) if len(w) == 3 and w[1] in "TDBRV"}

    def run_test(self, test, binary, seconds):
        return run(self.prefix + [binary], seconds, cwd=self.dir, env=dict(os.environ, O=self.o))

    def find_tests(self):
        """Which tests there are, what is in each, and how long each takes; those that fail
        here, unchanged, are left out."""
        folder = os.path.join(self.dir, self.o, "tests/unit")
        self.contains = {}
        for test in sorted(os.path.relpath(p, folder) for p in glob.glob(folder + "/*/test_*")):
            binary = os.path.join(self.o, "tests/unit", test)
            begun = time.monotonic()
            if self.run_test(test, binary, 20) == 0:
                self.seconds[test] = time.monotonic() - begun
                self.contains[test] = self.symbols(binary)

    def object_of(self, path):
        return os.path.join(self.o, "obj", path[:-2] + ".o")

    def compile(self, path, to):
        return run(self.cc + ["-w", "-c", "-o", to, path], 60, cwd=self.dir) == 0

    def link(self, test, mutant, to):
        own = os.path.join(self.o, "obj/tests/unit", test + ".o")
        return run(shlex.split(os.environ.get("CC", "cc")) + ["-o", to, own, mutant,
                   os.path.join(self.o, "libflame-test.a")] + self.libs, 60, cwd=self.dir) == 0

    def tests_of(self, path, most):
        """The tests with that object in them, likeliest and quickest first."""
        mine = self.symbols(self.object_of(path))
        stem = os.path.basename(path)[:-2]
        tests = [t for t in self.contains if mine & self.contains[t]]
        alike = {t: len(os.path.commonprefix([os.path.basename(t), "test_" + stem])) for t in tests}
        tests.sort(key=lambda t: (-alike[t] if alike[t] > 8 else 0, self.seconds[t]))
        return tests[:most]


def verdict(copy, mutant, tests, plain):
    """Verdict on a mutant: "survived", "noticed", "took too long", or why no test ran."""
    source = os.path.join(copy.dir, mutant.path)
    made, binary = "mutant.o", os.path.join(copy.o, "tests/unit", "mutant")
    with open(source, "w", encoding="utf-8") as f:
        f.write(mutant.text)
    try:
        if not copy.compile(mutant.path, made):
            return "does not compile"
        with open(os.path.join(copy.dir, made), "rb") as f:
            if f.read() == plain:
                return "same code"
        for test in tests:
            if not copy.link(test, made, binary):
                return "does not link"
            status = copy.run_test(test, binary, 3 * copy.seconds[test] + 2)
            if status != 0:
                return "took too long" if status is None else "noticed"
        return "survived"
    finally:
        shutil.copy2(mutant.path, source)


def equivalents():
    known = set()
    try:
        with open("scripts/mutants.equivalent", encoding="utf-8") as f:
            for line in f:
                parts = [p.strip() for p in line.split(" ## ")]
                if len(parts) == 4:
                    known.add(tuple(parts[:3]))
    except FileNotFoundError:
        pass
    return known


def main():
    ap = argparse.ArgumentParser(description="make mutants of the sources, list those that live")
    ap.add_argument("--budget", type=int, default=600, help="seconds to go on for (default: 600)")
    ap.add_argument("--seed", type=int, default=1, help="another seed, other mutants first")
    ap.add_argument("--most", type=int, default=8, help="tests asked about one mutant at most")
    ap.add_argument("--dir", help="where the copy is made (default: O/mutants)")
    ap.add_argument("--list", action="store_true", help="only print the mutants there would be")
    ap.add_argument("files", nargs="*", help="sources (default: all the tests link with)")
    a = ap.parse_args()
    a.o = os.environ.get("O", "build")
    a.dir = os.path.abspath(a.dir or os.path.join(a.o, "mutants"))
    known = equivalents()
    todo = [m for path in a.files for m in mutants_of(path)
            if (m.path, m.before, m.after) not in known]
    if a.list:
        for m in todo:
            print(f"{m.path}:{m.line}: {m.before}  ->  {m.after}")
        return 0
    random.Random(a.seed).shuffle(todo)
    copy = Copy(a)
    copy.find_tests()
    print(f"{len(todo)} mutants of {len(a.files)} files, {len(copy.contains)} tests; "
          f"{a.budget} s", flush=True)
    begun, counts, plain, tests = time.monotonic(), collections.Counter(), {}, {}
    for m in todo:
        if time.monotonic() - begun > a.budget:
            break
        if m.path not in plain:
            tests[m.path] = copy.tests_of(m.path, a.most)
            copy.compile(m.path, "plain.o")
            with open(os.path.join(copy.dir, "plain.o"), "rb") as f:
                plain[m.path] = f.read()
        what = verdict(copy, m, tests[m.path], plain[m.path]) if tests[m.path] else "no test"
        counts[what] += 1
        if what == "survived":
            print(f"{m.path}:{m.line}: {m.before}  ->  {m.after}", flush=True)
    tried = counts["survived"] + counts["noticed"] + counts["took too long"]
    print(", ".join(f"{n} {what}" for what, n in counts.most_common()))
    print(f"{counts['survived']} of {tried} survived")
    return 0


sys.exit(main())
