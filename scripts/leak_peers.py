#!/usr/bin/env python3
"""Verdicts of LeakSanitizer, memcheck and flame leak on the cases in tests/victims/leak/kinds_*.

usage: leak_peers.py FLAME [NAME...]      (make leak-peers)

NAME: blocks, roots, threads, ends, cxx; without one, all of them.

Each program of cases is run under all three, first all cases together that do not end the process,
then each other alone. A block is known by the function that allocates it. The table of those that
the three judge differently, and the sums of all, go to standard output; docs/leaks.md has them with
the reasons.
The right verdict is the class in the function's name.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VICTIMS = os.path.join(ROOT, "tests", "victims", "leak")
PROGRAMS = [
    ("blocks", "c", []),
    ("roots", "c", ["-ldl"]),
    ("threads", "c", []),
    ("ends", "c", []),
    ("cxx", "cc", ["-std=c++17"]),
]
CLASSES = ("definite", "indirect", "inner", "reachable")
NAMES = re.compile(r"\b((?:definite|indirect|inner|reachable|unjudged)_[A-Za-z0-9_]+)")
SECONDS = 120  # one that has not ended by then does not end: threads in vfork under LeakSanitizer


def run(command, **more):
    try:
        return subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            timeout=SECONDS, check=False, **more)
    except subprocess.TimeoutExpired:
        return None


def output(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          check=False).stdout.decode(errors="replace")


def build(directory, name, ending, flags, sanitize=False):
    program = os.path.join(directory, name + ("-lsan" if sanitize else ""))
    compiler = "g++" if ending == "cc" else "gcc"
    subprocess.run(
        [compiler, "-O0", "-g", "-w", "-pthread", "-I" + ROOT, "-o", program,
         os.path.join(VICTIMS, f"kinds_{name}.{ending}")] + flags +
        (["-fsanitize=leak"] if sanitize else []), check=True)
    return program


class Found(collections.defaultdict):
    """Classes by function."""

    def __init__(self):
        super().__init__(set)

    def add(self, stack, kind):
        """`stack`: its functions, the innermost first."""
        for function in stack:
            match = NAMES.search(function)
            if match:
                self[match.group(1)].add(kind)
                return


def ask_flame(flame, program, case, directory):
    found = Found()
    trace = os.path.join(directory, "x.flame")
    for old in os.listdir(directory):
        if old.endswith(".flame"):
            os.unlink(os.path.join(directory, old))
    run([flame, "mem", "-q", "--view", "definite", "-o", trace, "--", program] + case)
    traces = [os.path.join(directory, f) for f in os.listdir(directory) if f.endswith(".flame")]
    for kind in CLASSES:
        for line in output([flame, "fold", "--no-header", "--view", kind] + traces).splitlines():
            found.add(reversed(line.split(";")), kind)
    return found


def read_report(text, header):
    """Stacks below lines that `header` gives a class for, until a line that is no frame. A frame is
    all that is left of its line, as a readable name of C++ may have blanks: "(anonymous namespace)"."""
    found = Found()
    kind, stack = None, []
    for line in text.splitlines() + [""]:
        frame = re.match(r"(?:==\d+==)?\s+(?:#\d+ 0x\w+ in|at 0x\w+:|by 0x\w+:)\s*(\S.*)", line)
        if frame and kind:
            stack.append(frame.group(1))
            continue
        if kind:
            found.add(stack, kind)
        kind, stack = header(line), []
    return found


def lsan_header(line):
    match = re.match(r"(Direct|Indirect) leak of", line)
    return match and {"Direct": "definite", "Indirect": "indirect"}[match.group(1)]


def memcheck_header(line):
    match = re.search(r"are (definitely|indirectly|possibly) lost|are (still) reachable", line)
    return match and {"definitely": "definite", "indirectly": "indirect", "possibly": "inner",
                      "still": "reachable"}[match.group(1) or match.group(2)]


def ask_lsan(program, case, directory):
    log = os.path.join(directory, "lsan.log")
    for old in os.listdir(directory):
        if old.startswith("lsan.log"):
            os.unlink(os.path.join(directory, old))
    # The fast unwinder ends at the first function of libstdc++, which keeps no frame pointers.
    options = f"log_path={log}:exitcode=0:fast_unwind_on_malloc=0"
    if not run([program] + case, env={**os.environ, "LSAN_OPTIONS": options}):
        return None
    text = ""
    for name in os.listdir(directory):
        if name.startswith("lsan.log"):
            with open(os.path.join(directory, name), errors="replace") as f:
                text += f.read() + "\n"
    return read_report(text, lsan_header)


def ask_memcheck(program, case, directory):
    log = os.path.join(directory, "memcheck.log")
    if not run(["valgrind", "--leak-check=full", "--show-leak-kinds=all", "--num-callers=40",
         "--fair-sched=yes", f"--log-file={log}", program] + case):
        return None
    with open(log, errors="replace") as f:
        return read_report(f.read(), memcheck_header)


def cases_of(program):
    """[(arguments, functions)]: all that run together, then each other."""
    together, alone = [], []
    for line in output([program, "--list"]).splitlines():
        how, name, *functions = line.split()
        if how == "alone":
            alone.append(([name], functions))
        else:
            together += functions
    return ([([], together)] if together else []) + alone


def words(found, function, reports_reached):
    if found is None:
        return "does not end"
    kinds = found.get(function, set())
    if not kinds:
        return "not reported" if reports_reached else "no leak"
    return " and ".join(k for k in CLASSES if k in kinds)


def agrees(expected, word, reports_reached):
    if expected == "unjudged":
        return word in ("no leak", "not reported")
    if not reports_reached and expected in ("inner", "reachable"):
        return word == "no leak"
    return word == expected


def main():
    flame = os.path.abspath(sys.argv[1])
    rows = []
    total, right = collections.Counter(), collections.Counter()
    with tempfile.TemporaryDirectory() as directory:
        plugin = os.path.join(directory, "plugin.so")
        subprocess.run(["gcc", "-O0", "-g", "-shared", "-fPIC", "-o", plugin,
                        os.path.join(VICTIMS, "kinds_plugin.c")], check=True)
        os.environ["KINDS_PLUGIN"] = plugin
        for name, ending, flags in PROGRAMS:
            if sys.argv[2:] and name not in sys.argv[2:]:
                continue
            program = build(directory, name, ending, flags)
            sanitized = build(directory, name, ending, flags, sanitize=True)
            for arguments, functions in cases_of(program):
                ours = ask_flame(flame, program, arguments, directory)
                lsan = ask_lsan(sanitized, arguments, directory)
                memcheck = ask_memcheck(program, arguments, directory)
                for function in functions:
                    expected = function.split("_")[0]
                    said = (words(ours, function, True), words(lsan, function, False),
                            words(memcheck, function, True))
                    agreed = (agrees(expected, said[0], True), agrees(expected, said[1], False),
                              agrees(expected, said[2], True))
                    total[name] += 1
                    right.update((name, i) for i in range(3) if agreed[i])
                    if not all(agreed):
                        rows.append((function, *said))
    print("| block of | flame | LeakSanitizer | memcheck |")
    print("|---|---|---|---|")
    for function, *said in rows:
        print(f"| {function} | {' | '.join(said)} |")
    print("\n| right, of the functions of | functions | flame | LeakSanitizer | memcheck |")
    print("|---|---|---|---|---|")
    for name, n in total.items():
        print(f"| kinds_{name} | {n} | {' | '.join(str(right[name, i]) for i in range(3))} |")
    print(f"| all | {sum(total.values())} | "
          f"{' | '.join(str(sum(right[name, i] for name in total)) for i in range(3))} |")


if __name__ == "__main__":
    main()
