"""Running commands and comparing what they cost.

A measurement is only ever compared with one made in the same round: the variants
run one after the other (A B C, A B C, ...), and a ratio is taken within each round
before the median is taken over the rounds. What else the machine does then falls
on all variants alike, or shows as spread.
"""

import hashlib
import os
import resource
import shutil
import statistics
import subprocess
import threading
import time

TIMEOUT = 900  # seconds; a command that hangs is ended, and its variant left out


class Run:
    """One command, run once: what it cost, what it said, what it left on disk."""

    def __init__(self, status, cpu, wall, rss, out, disk):
        self.status = status  # as in os.waitstatus_to_exitcode: negative for a signal
        self.cpu = cpu  # seconds, user and system, of the command and its children
        self.wall = wall  # seconds
        self.rss = rss  # bytes, the highest; None when too small to be known
        self.out = out  # standard output
        self.disk = disk  # bytes of the files in its directory, as allocated

    def digest(self):
        return hashlib.sha1(self.out).hexdigest()


def run(argv, env, directory, keep_out=None):
    """Runs argv with env added to the environment. `directory` is emptied first and
    holds standard error (".err") and whatever a recorder writes; standard output is
    returned, and is in the file keep_out if that is given.

    The highest RSS the kernel tells starts from this process's own (some 20 MB), so it
    says nothing about commands that need less."""
    shutil.rmtree(directory, ignore_errors=True)
    os.makedirs(directory)
    out = keep_out or directory + ".out"
    environment = {k: v for k, v in os.environ.items() if k not in UNSET}
    environment.update(env)
    with open(out, "wb") as stdout, open(os.path.join(directory, ".err"), "wb") as stderr:
        start = time.monotonic()
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, env=environment
        )
        watchdog = threading.Timer(TIMEOUT, child.kill)
        watchdog.daemon = True
        watchdog.start()
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - start
        watchdog.cancel()
    child.returncode = os.waitstatus_to_exitcode(status)
    if keep_out:
        said = b""
    else:
        with open(out, "rb") as f:
            said = f.read()
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return Run(
        child.returncode,
        usage.ru_utime + usage.ru_stime,
        wall,
        usage.ru_maxrss * 1024 if usage.ru_maxrss > own else None,
        said,
        disk_bytes(directory),
    )


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
    """What a recorder left, the biggest first."""
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
