"""Running commands and comparing what they cost.

A measurement is only ever compared with one made in the same round: the variants
run one after the other (A B C, A B C, ...), and a ratio is taken within each round
before the median is taken over the rounds. What else the machine does then falls
on all variants alike, or shows as spread.
"""

import hashlib
import os
import shutil
import signal
import statistics
import subprocess
import sys

TIMEOUT = 900  # seconds; a command that hangs is killed, and the benchmark ends


class Run:
    """One command, run once: what it cost, what it said, what it left on disk."""

    def __init__(self, costs, out, disk):
        status, user, system, wall, rss = (int(word) for word in costs.split())
        self.status = status  # the exit status, or minus the signal
        self.cpu = (user + system) / 1e6  # seconds, of the command and its children
        self.wall = wall / 1e6  # seconds
        self.rss = rss * 1024  # bytes, the highest
        self.out = out  # standard output
        self.disk = disk  # bytes of the files in its directory, as allocated

    def digest(self):
        return hashlib.sha1(self.out).hexdigest()


def run(cost, argv, env, directory, keep_out=None):
    """Runs argv through `cost` (bench/cost.c, built) with env added to the environment.
    `directory` is emptied first and holds standard error (".err") and whatever a
    recorder writes; standard output is returned, or is in the file keep_out if that is
    given."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    out, costs = keep_out or directory + ".out", directory + ".cost"
    environment = {k: v for k, v in os.environ.items() if k not in UNSET}
    environment.update(env)
    if "LD_PRELOAD" in environment:
        environment["COST_PRELOAD"] = environment.pop("LD_PRELOAD")
    with open(out, "wb") as stdout, open(os.path.join(directory, ".err"), "wb") as stderr:
        child = subprocess.Popen(
            [cost, costs] + argv,
            stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment,
            start_new_session=True,
        )
        try:
            child.wait(TIMEOUT)
        except BaseException:  # an interrupt at the keyboard too: leave nothing running
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise
    if child.returncode:
        sys.exit("bench: %s could not run %s" % (cost, argv[0]))
    with open(costs, encoding="ascii") as f:
        line = f.read()
    os.unlink(costs)
    said = b""
    if not keep_out:
        with open(out, "rb") as f:
            said = f.read()
    return Run(line, said, disk_bytes(directory))


# Nothing of the caller's may reach some of the variants and not others.
UNSET = (
    "LD_PRELOAD",
    "FLAMEMEM_OPTIONS",
    "FLAME_MEM_SHIM",
    "MALLOC_CONF",
    "HEAPPROFILE",
    "LSAN_OPTIONS",
    "DUMP_HEAPTRACK_OUTPUT",
    "DEBUGINFOD_URLS",
)


def disk_bytes(directory):
    total = 0
    for root, _, names in os.walk(directory):
        for name in names:
            if name != ".err":
                total += os.lstat(os.path.join(root, name)).st_blocks * 512
    return total


def files_in(directory):
    """Files that a recorder left, the biggest first."""
    found = [os.path.join(directory, n) for n in os.listdir(directory) if n != ".err"]
    return sorted(found, key=os.path.getsize, reverse=True)


class Spread:
    """A median and the quartiles around it."""

    def __init__(self, values):
        values = sorted(values)
        self.median = statistics.median(values)
        if len(values) > 1:
            self.low, _, self.high = statistics.quantiles(values, n=4, method="inclusive")
        else:
            self.low = self.high = values[0]

    def text(self, digits=2):
        if self.low == self.high:
            return "%.*f" % (digits, self.median)
        return "%.*f [%.*f..%.*f]" % (digits, self.median, digits, self.low, digits, self.high)


def paired(function, *columns):
    """The Spread of function(a, b, ...) within each round; None without a round. A
    round in which something is not known, or function returns None, is left out."""
    values = [function(*row) for row in zip(*columns) if None not in row]
    values = [v for v in values if v is not None]
    return Spread(values) if values else None


def geometric_mean(values):
    return statistics.geometric_mean(values)
