"""Cost of `flame off`, beside strace.

bench/pingpong.c measures its own rounds, so starting, folding and drawing are not in
the figures. A tracer that takes stacks (flame, strace -k) is compared with one that
takes none (strace with its seccomp filter), which is the cheapest known.

Where the scheduler puts tracer and traced matters more than what either does: waking a
thread on a processor that sleeps can cost ten times as much as on the one that is in use.
So ping-pong is run both ways: with everything on one processor, and as it comes.
"""

import os
import re
import shutil
import signal
import subprocess
import time

import measure
import programs
from measure import paired
from report import cell, table
from variants import Variant

CALLS = "futex,read,write"
ROUNDS = {  # of a mode at each size; strace -k is so slow that it has its own
    "futex": {"full": 20000, "small": 2000, "tiny": 200},
    "pipe": {"full": 10000, "small": 1000, "tiny": 100},
    "futex, one processor": {"full": 20000, "small": 2000, "tiny": 200},
    "pipe, one processor": {"full": 20000, "small": 2000, "tiny": 200},
    "compute": {"full": 20000, "small": 2000, "tiny": 200},
}
SLOW_ROUNDS = {"full": 200, "small": 50, "tiny": 5}
CROWD = {"full": 1000, "small": 100, "tiny": 20}


def variants(flame):
    found = [
        Variant("plain", "plain"),
        Variant("flame", "flame off", prefix=[flame, "off", "-q", "-o", "{dir}/x.flame"]),
        Variant("untimed", "flame off --lanes off",
                prefix=[flame, "off", "--lanes", "off", "-q", "-o", "{dir}/x.flame"]),
        Variant("stops", "flame off --no-in-process",
                prefix=[flame, "off", "--no-in-process", "-q", "-o", "{dir}/x.flame"]),
    ]
    strace = shutil.which("strace")
    if strace:
        common = [strace, "-f", "-e", "trace=" + CALLS, "-o", "/dev/null"]
        found.append(Variant("strace", "strace, no stacks", prefix=common + ["--seccomp-bpf"]))
        found.append(Variant("strace -k", "strace -k", prefix=common + ["-k"], once=True))
    return found


class Off:
    def __init__(self):
        self.rounds = {}  # {mode: {variant key: [ns a round of the program]}}
        self.crowd = []  # seconds to attach to a crowd of threads and leave it
        self.memory = []  # (peak RSS of the tracer in a short run, in one ten times as long)
        self.labels = {}


def pinned(variant):
    """The variant with tracer and traced on one processor."""
    cpu = str(min(os.sched_getaffinity(0)))
    prefix = [shutil.which("taskset") or "taskset", "-c", cpu] + variant.prefix
    return Variant(variant.key, variant.label, prefix=prefix, once=variant.once)


def one(bench, path, mode, count, variant):
    argv = [path, mode.split(",")[0], str(count)]
    if "one processor" in mode:
        variant = pinned(variant)
    run = bench.run(programs.Program("pingpong", "pingpong " + mode, argv), variant)
    if run.status == 0 and re.fullmatch(rb"\d+\.\d\n", run.out):
        return float(run.out), run.rss
    bench.note("pingpong %s under %s: status %d" % (mode, variant.label, run.status))
    return None, None


def section(bench):
    path = programs.built("pingpong", bench.directory)
    off = Off()
    found = variants(bench.flame)
    off.labels = {v.key: v.label for v in found}
    for mode in ROUNDS:
        off.rounds[mode] = {v.key: [] for v in found}
    for _ in range(bench.runs):
        for mode, sizes in ROUNDS.items():
            for variant in found:
                if variant.once and mode == "compute":
                    continue
                count = SLOW_ROUNDS[bench.size] if variant.once else sizes[bench.size]
                off.rounds[mode][variant.key].append(one(bench, path, mode, count, variant)[0])
        off.crowd.append(crowd(bench, path))
    flame = next(v for v in found if v.key == "flame")
    few = ROUNDS["futex"][bench.size]
    for _ in range(min(3, bench.runs)):
        short, long = (one(bench, path, "futex", n, flame)[1] for n in (few, 10 * few))
        if short and long:
            off.memory.append((short, long))
    return off


def crowd(bench, path):
    """Seconds from the start of flame to its end, attaching to a crowd for no time."""
    count = CROWD[bench.size]
    trace = bench.scratch("crowd.flame")
    bench.progress("attach to %d threads" % count)
    program = subprocess.Popen(
        [path, "crowd", str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        program.stdout.readline()
        begin = time.monotonic()
        status = subprocess.run(
            [bench.flame, "off", "-q", "-o", trace, "-d", "0.001", "-p", str(program.pid)],
            stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=measure.TIMEOUT,
            check=False,
        ).returncode
        took = time.monotonic() - begin
    finally:
        program.stdin.close()
        try:
            program.wait(10)
        except subprocess.TimeoutExpired:
            program.send_signal(signal.SIGKILL)
            program.wait()
    if os.path.exists(trace):
        os.unlink(trace)
    if status != 0 or program.returncode != 0:
        bench.note("attach to a crowd: status %d, the crowd's %d" % (status, program.returncode))
        return None
    return took


def report(out, off):
    """Tables and figures into the Report `out`."""
    rows = []
    for mode, columns in off.rounds.items():
        for key, values in columns.items():
            if not values:
                continue
            plain = columns["plain"]
            rows.append(
                [
                    "%s: %s" % (mode, off.labels[key]),
                    cell(paired(lambda a: a / 1000, values), 1),
                    cell(paired(lambda a, b: a / b, values, plain)),
                    cell(paired(lambda a, b: a / b, values, columns.get("strace") or [])),
                ]
            )
    table(
        "Tracing of blocking calls",
        "Microseconds a round by the program's own clock; times plain; times strace, which\n"
        "takes no stacks. flame and strace -k take the stack of every wait.",
        ["", "us", "x plain", "x strace"],
        rows,
    )
    for mode in off.rounds:
        if mode == "compute":
            continue
        columns = off.rounds[mode]
        ratio = paired(lambda a, b: a / b, columns["flame"], columns.get("strace") or [])
        if ratio:
            out.figure(
                "off: ping-pong by %s with stacks, times strace without" % mode,
                "at most 1.15", ratio.median, ratio.median <= 1.15,
            )
        added = paired(
            lambda k, f, p: (k - p) / (f - p) if f > p else None,
            columns.get("strace -k") or [], columns["flame"], columns["plain"],
        )
        if added:
            out.figure(
                "off: ping-pong by %s, what strace -k adds over what flame adds" % mode,
                "at least 20", added.median, added.median >= 20, 1,
            )
        # With all on one processor, a round has the tracer's time.
        timed = paired(
            lambda f, u, p: (f - p) / (u - p) if u > p else None,
            columns["flame"], columns["untimed"], columns["plain"],
        )
        if timed and "one processor" in mode:
            out.figure(
                "off: ping-pong by %s, what flame adds with the times of waits over without" % mode,
                "at most 1.02", timed.median, timed.median <= 1.02, 3,
            )
    columns = off.rounds["compute"]
    ratio = paired(lambda a, b: a / b, columns["flame"], columns["plain"])
    if ratio:
        out.figure(
            "off: a program that never blocks, times plain",
            "at most 1.02", ratio.median, ratio.median <= 1.02, 3,
        )
    attach = paired(lambda a: a, off.crowd)
    if attach:
        out.figure(
            "off: attach to %d threads and leave, seconds" % CROWD[out.bench.size],
            "at most 1", attach.median, attach.median <= 1, 3,
        )
    growth = paired(
        lambda short, long: long / short, [a for a, _ in off.memory], [b for _, b in off.memory]
    )
    if growth:
        out.figure(
            "off: peak memory of a run ten times as long, times the short one's",
            "at most 1.05", growth.median, growth.median <= 1.05, 3,
        )
