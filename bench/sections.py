"""Sections of the benchmark. Each section runs its commands and gives back plain figures;
bench/report.py makes tables of them."""

import os
import re
import shutil
import statistics
import struct
import subprocess
import sys

import measure
import programs
import variants


class Bench:
    """Settings that all sections share: paths, number of runs, size and variants."""

    def __init__(self, flame, directory, runs, size, found):
        self.flame = flame
        self.directory = directory
        self.runs = runs
        self.size = size
        self.variants = found
        self.cost = programs.built("cost", directory)
        self.notes = []  # what went wrong, for the end of the report

    def scratch(self, name):
        return os.path.join(self.directory, name)

    def progress(self, text):
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K" + text)
            sys.stderr.flush()

    def note(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def fast(self, section=None):
        return [v for v in self.variants if not v.once and v.only in (None, section)]

    def variant(self, key):
        return next((v for v in self.variants if v.key == key), None)

    def run(self, program, variant, directory=None, keep_out=None):
        directory = directory or self.scratch("run")
        argv, env = variant.command(program.argv, program.env, directory)
        self.progress("%s: %s" % (program.label, variant.label))
        return measure.run(self.cost, argv, env, directory, keep_out)


def program_section(bench, chosen):
    """{program key: {variant key: [Run, one a round]}}, {program key: live bytes at
    the peak}. A variant under which a program does something else is left out."""
    results, live = {}, {}
    found = []
    for key in chosen:
        program = programs.ALL[key](bench.size, bench.directory)
        if not program:
            bench.note("%s: not installed" % key)
            continue
        found.append(program)
    expected = {}
    for program in found:  # the first run fetches files from disk and is not counted
        expected[program.key] = bench.run(program, bench.variant("plain"))
        results[program.key] = {v.key: [] for v in bench.fast()}
    broken = set()
    for _ in range(bench.runs):
        for program in found:
            want = expected[program.key]
            for variant in bench.fast():
                if (program.key, variant.key) in broken:
                    continue
                run = bench.run(program, variant)
                if run.status != want.status or run.digest() != want.digest():
                    broken.add((program.key, variant.key))
                    results[program.key][variant.key] = []
                    bench.note(
                        "%s under %s: other output or status (%d); left out"
                        % (program.label, variant.label, run.status)
                    )
                    continue
                run.out = b""
                results[program.key][variant.key].append(run)
                if variant.key == "flame" and program.key not in live:
                    live[program.key] = view_total(bench, "peak", bench.scratch("run"))
    return results, live


def view_total(bench, view, directory):
    """The sum of a view over the traces in a directory."""
    traces = [f for f in measure.files_in(directory) if "trace.flame" in f]
    said = subprocess.run(
        [bench.flame, "fold", "--no-header", "--no-inline", "--view", view] + traces,
        capture_output=True,
        check=True,
    ).stdout
    return sum(int(line.rsplit(b" ", 1)[1]) for line in said.splitlines())


DEPTHS = (5, 8, 16, 40)
THREADS = (1, 2)
WIDTHS = {"narrow": 1000, "wide": 300000}  # live blocks a thread


def churn_width(bench, heap):
    return WIDTHS[heap] if bench.size == "full" else 100


def churn_section(bench):
    """{(heap, threads, depth): {variant key: [ns a pair, one a round]}}. Recorders
    that are neither flame nor heaptrack run at depth 8 only."""
    path = programs.built("churn", bench.directory)
    pairs = {"full": 500000, "small": 20000, "tiny": 2000}[bench.size]
    cells = {}
    for heap in WIDTHS:
        for threads in THREADS:
            for depth in DEPTHS:
                cells[heap, threads, depth] = {v.key: [] for v in bench.fast("churn")}
    for _ in range(bench.runs):
        for (heap, threads, depth), columns in cells.items():
            numbers = (depth, threads, churn_width(bench, heap), pairs)
            argv = [path] + [str(n) for n in numbers]
            program = programs.Program("churn", "churn " + " ".join(argv[1:]), argv)
            for variant in bench.fast("churn"):
                everywhere = ("plain", "off", "flame", "sampled", "heaptrack")
                if depth != 8 and variant.key not in everywhere:
                    continue
                run = bench.run(program, variant)
                if run.status == 0 and re.fullmatch(rb"\d+\.\d+\n", run.out):
                    columns[variant.key].append(float(run.out))
                else:
                    bench.note("churn under %s: status %d" % (variant.label, run.status))
    return cells


HOLDS = {64: 400000, 65536: 800, 1 << 20: 60}  # so many blocks of so many bytes


def hold_rounds(bench):
    return min(3, bench.runs)


def hold_section(bench):
    """{block size in bytes: {variant key: (fixed, per byte, per resident byte)}}: what is added
    to the peak RSS at all, for each live byte, and for each byte the same blocks need
    without a recorder. From two numbers of blocks, one three times the other."""
    path = programs.built("hold", bench.directory)
    table = {}
    for size, count in HOLDS.items():
        if bench.size != "full":
            count = max(4, count // 10)
        rss = {}
        for _ in range(hold_rounds(bench)):
            for blocks in (count, 3 * count):
                program = programs.Program("hold", "hold", [path, str(blocks), str(size)])
                for variant in bench.fast():
                    run = bench.run(program, variant)
                    if run.status == 0:
                        rss.setdefault((variant.key, blocks), []).append(run.rss)
        median = {k: statistics.median(v) for k, v in rss.items()}
        table[size] = {}
        for variant in bench.fast():
            few, many = (variant.key, count), (variant.key, 3 * count)
            base_few, base_many = (variant.base, count), (variant.base, 3 * count)
            if variant.key == variant.base or not {few, many} <= median.keys():
                continue
            if not {base_few, base_many} <= median.keys():
                continue
            plain = median[base_many] - median[base_few]
            growth = median[many] - median[few] - plain
            live = 2 * count * size
            fixed = median[few] - median[base_few] - growth / 2
            table[size][variant.key] = (fixed, growth / live, growth / max(plain, 1))
    return table


def fold_section(bench):
    """{program: {"flame": [s], "pack": [s], "of_packed": [s], "names": [bytes], "print": [s],
    "interpret": [s]}}: CPU seconds from a recording to folded stacks, also by way of a recording
    that carries its names, and how many bytes these take; for cc1 (which has no debug information on Debian) and
    for a program that has it, some inlined frames among it."""
    results = {}
    for find in (programs.cc1, programs.nest):
        program = find(bench.size, bench.directory)
        if program:
            fold_one(bench, program, results)
        else:
            bench.note("gcc: not installed, so nothing to fold")
    return results


def names_bytes(trace):
    """Bytes of the segments that hold names (common/trace_format.h)."""
    with open(trace, "rb") as file:
        data = file.read()
    at, names = 1024, 0
    while at + 72 <= len(data):
        magic, kind, _, _, units = struct.unpack_from("=5I", data, at)
        if magic != 0x47455346:
            break
        if kind == 1 and struct.unpack_from("=I", data, at + 64)[0] == 16:
            names += 1024 * units
        at += 1024 * units
    return names


def fold_one(bench, program, results):
    """Records `program` once with each, then folds both recordings in turns."""
    columns = results[program.label] = {"flame": [], "pack": [], "of_packed": [], "names": [],
                                        "print": [], "interpret": []}
    mine = bench.scratch("fold-" + program.key)
    bench.run(program, bench.variant("flame"), mine)
    trace = measure.files_in(mine)[0]
    fold = programs.Program("fold", "flame fold", [bench.flame, "fold", "--view", "count", trace])
    named = bench.scratch("named-%s.flame" % program.key)
    pack = programs.Program("pack", "flame pack", [bench.flame, "pack", "-q", "-o", named, trace])
    fold_packed = programs.Program("fold", "flame fold",
                                   [bench.flame, "fold", "--view", "count", named])
    raw = packed = None
    heaptrack = bench.variant("heaptrack")
    printer = shutil.which("heaptrack_print")
    if heaptrack and printer:
        theirs = bench.scratch("heaptrack-" + program.key)
        bench.run(program, heaptrack, theirs)
        raw = measure.files_in(theirs)[0]
        packed = bench.scratch("packed-%s.gz" % program.key)
    plain = bench.variant("plain")
    for turn in range(bench.runs):
        said = bench.run(fold, plain, keep_out=bench.scratch("folded"))
        columns["flame"].append(said.cpu)
        columns["pack"].append(bench.run(pack, plain).cpu)
        columns["of_packed"].append(bench.run(fold_packed, plain).cpu)
        columns["names"].append(names_bytes(named))
        if not raw:
            continue
        if turn == 0:
            columns["interpret"].append(interpret(bench, raw, packed).cpu)
        argv = [printer, "-f", packed, "-p0", "-a0", "-T0", "-F", bench.scratch("run") + "/stacks"]
        printing = programs.Program("print", "heaptrack_print", argv)
        run = bench.run(printing, plain)
        if run.status == 0:
            columns["print"].append(run.cpu)
        else:
            bench.note("heaptrack_print: status %d" % run.status)
    os.unlink(named)


def interpret(bench, raw, packed):
    """heaptrack's first step, which finds the symbols."""
    tool = variants.heaptrack_file("libexec/heaptrack_interpret")
    script = '"$1" <"$2" | gzip -1 >"$3"'
    argv = ["/bin/sh", "-c", script, "sh", tool, raw, packed]
    return bench.run(programs.Program("interpret", "interpret", argv), bench.variant("plain"))


def slow_section(bench, chosen):
    """{program label: {variant key: slowdown}}, on small inputs, once."""
    results = {}
    slow = [v for v in bench.variants if v.once]
    size = "small" if bench.size == "full" else bench.size
    for key in chosen:
        program = programs.ALL[key](size, bench.directory)
        if not program or not slow:
            continue
        bench.run(program, bench.variant("plain"))
        plain = bench.run(program, bench.variant("plain"))
        rows = results[program.label] = {}
        for variant in slow:
            run = bench.run(program, variant)
            if run.status == plain.status and run.digest() == plain.digest():
                rows[variant.key] = run.cpu / plain.cpu
            else:
                bench.note("%s under %s: status %d" % (program.label, variant.label, run.status))
    return results
