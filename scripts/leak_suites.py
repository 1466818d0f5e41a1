#!/usr/bin/env python3
"""Other projects' test suites under flame leak, and what memcheck says of each leak that it reports.

usage: leak_suites.py FLAME DIR SUITE[=PATTERN]...

DIR is where the sources and Debian's packages of the tests were unpacked; docs/leaks.md has the
commands. PATTERN takes the tests whose names it is found in. SUITE:

  glib         installed programs of GLib and GIO, one by one: DIR/root (libglib2.0-tests)
  python       modules of CPython's suite that are in C or use it: DIR/py/test (libpython3.11-testsuite)
  more_python  a hundred others of it
  jq           jq's tests and scripts: DIR/src/jq-jq-1.6 (source of jq)
  sqlite       scripts of SQL, made here, for sqlite3
  git          short scripts of git's t/, for the git that is installed: DIR/src/git-2.39.5, test-tool built
  perl         a quarter of perl's core tests: DIR/src/perl-5.36.0
  bash         bash's tests: DIR/src/bash-5.2.15, its small programs built
  redis        redis' tests/unit: DIR/redis, with src/redis-server and others that lead to /usr/bin
  programs     programs in normal use, from redis to javac (leak_programs.py)

Each test runs by itself, then under flame leak; where leaks are reported it runs under memcheck as
well. A line for each test whose result changed, or that leaked; then sums. The status is 1 when a
result changed. JOBS is how many run at a time (2); VERBOSE=1 counts on the way.
"""
import collections
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from leak_tests import SUITES

SECONDS = 60  # a test that takes longer by itself is left out
MEMCHECK_SECONDS = 240
LEAKS = 23
NOBODY = 65534
VALGRIND = ["valgrind", "--leak-check=full", "--trace-children=yes", "--num-callers=40", "--fair-sched=yes"]


def run(test, before=(), seconds=5 * SECONDS, path=None):
    """(status, lines that are compared), or (None, []) of what did not end in time."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        env = {**os.environ, "TERM": "dumb", **test.env, "TMPDIR": scratch, "HOME": scratch,
               "XDG_RUNTIME_DIR": scratch}
        if path:
            env["PATH"] = path + ":" + env["PATH"]
            if "GIT_TEST_INSTALLED" in env:
                env["GIT_TEST_INSTALLED"] = path
        who = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if test.not_root and os.geteuid() == 0 else {}
        if who:
            os.chown(scratch, NOBODY, NOBODY)
        with tempfile.TemporaryFile() as out:
            # A file, not a pipe: a server that a test leaves behind does not keep us waiting.
            # Below a shell: a test that leads a session of its own may not become another group's leader.
            with subprocess.Popen(["sh", "-c", '"$@"; exit $?', "sh"] + list(before) + test.argv,
                                  cwd=test.cwd or scratch, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.DEVNULL, start_new_session=True, **who) as p:
                try:
                    status = p.wait(timeout=seconds)
                except subprocess.TimeoutExpired:
                    status = None
                try:
                    os.killpg(p.pid, signal.SIGKILL)  # whoever is left of its session
                except ProcessLookupError:
                    pass
            out.seek(0)
            text = out.read().decode(errors="replace").replace(scratch, "SCRATCH")
    if status is None:
        return None, []
    return status, [re.sub(r" \(\d+ ms\)", "", line) for line in text.splitlines() if re.match(test.lines, line)]


def for_the_test(test, scratch):
    """A directory that the test may write to."""
    if test.not_root and os.geteuid() == 0:
        os.chown(scratch, NOBODY, NOBODY)


def under_flame(flame, test, scratch):
    report = os.path.join(scratch, "leak.json")
    for_the_test(test, scratch)
    result = run(test, [flame, "leak", "-q", "-o", os.path.join(scratch, "leak.folded"), "--json", report, "--"])
    try:
        with open(report) as f:
            return result, json.load(f)
    except (OSError, ValueError):
        return result, None


def wrappers(test, log):
    """Programs that start those of the same names under memcheck: where a test is a script of a thousand
    small commands, and one of them is meant."""
    path = tempfile.mkdtemp(dir=os.path.dirname(log))
    for program in test.only:
        own = os.path.join(path, os.path.basename(program))
        with open(own, "w") as f:
            f.write(f"#!/bin/sh\nexec {' '.join(VALGRIND)} --log-file={log} {program} \"$@\"\n")
        os.chmod(own, 0o755)
    return path


def under_memcheck(test, scratch):
    """Sums, or None if it was not over in time."""
    logs = os.path.join(scratch, "logs")
    os.mkdir(logs)
    for_the_test(test, logs)
    log = os.path.join(logs, "log.%p")
    if test.only:
        ended = run(test, path=wrappers(test, log), seconds=MEMCHECK_SECONDS)
    else:
        ended = run(test, VALGRIND + [f"--log-file={log}"], seconds=MEMCHECK_SECONDS)
    sums = collections.Counter()
    for name in os.listdir(logs):
        if name.startswith("log."):
            with open(os.path.join(logs, name), errors="replace") as f:
                add_records(f.read(), sums)
    return sums if ended[0] is not None else None


def add_records(text, sums):
    for kind, lost, blocks in re.findall(
            r"(definitely|indirectly) lost: ([\d,]+) bytes in ([\d,]+) blocks", text):
        sums[kind + " bytes"] += int(lost.replace(",", ""))
        sums[kind + " blocks"] += int(blocks.replace(",", ""))


def same(plain, recorded, leaky):
    status = 0 if leaky and recorded[0] == LEAKS else recorded[0]
    return (status, recorded[1]) == plain


def amount(sums, kind):
    return f"{sums[kind + ' bytes']:,} in {sums[kind + ' blocks']:,}"


def sums_of(report):
    found = collections.Counter()
    for kind, word in (("definite", "definitely"), ("indirect", "indirectly")):
        for unit in ("bytes", "blocks"):
            found[f"{word} {unit}"] = report["sums"].get(kind, {}).get(unit, 0) if report else 0
    return found


def who_leaks(report):
    """The largest, as "program function", each once."""
    places = {}
    for leak in report["leaks"]:
        if leak["class"] in ("definite", "indirect"):
            frame = leak["frames"][leak.get("place", 0)]["function"] if leak["frames"] else "?"
            places[leak["process"]["name"] + " " + frame] = 1
    return ", ".join(list(places)[:6])


def check(flame, test):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        plain = run(test, seconds=SECONDS)
        if plain[0] is None:
            return "slow", ""
        recorded, report = under_flame(flame, test, scratch)
        found = sums_of(report)
        leaky = any(found.values())
        if not same(plain, recorded, leaky):
            if not same(plain, run(test), False):
                return "unsteady", f"{test.suite} {test.name}: its result changes without flame, too"
            lines = [a for a in recorded[1] if a not in plain[1]] + [a for a in plain[1] if a not in recorded[1]]
            return "changed", f"{test.suite} {test.name}: CHANGED {plain[0]} {recorded[0]} {lines[:3]}"
        if not leaky:
            return "clean", ""
        theirs = under_memcheck(test, scratch)
        return "leaky", (f"{test.suite} {test.name}: flame {amount(found, 'definitely')}; "
                         f"{amount(found, 'indirectly')}; memcheck " +
                         (f"{amount(theirs, 'definitely')}; {amount(theirs, 'indirectly')}" if theirs is not None
                          else "did not end in time") + f": {who_leaks(report)}")


def show(suite, tests, sums):
    print(f"{suite}: {sum(n for (s, _), n in sums.items() if s == suite)} of {len(tests)} tests: " +
          ", ".join(f"{n} {v}" for (s, v), n in sorted(sums.items()) if s == suite), flush=True)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    flame, directory = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    sums = collections.Counter()
    for word in sys.argv[3:]:
        suite, _, pattern = word.partition("=")
        tests = [t for t in SUITES[suite](directory) if re.search(pattern, t.name)]
        with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("JOBS", "2"))) as pool:
            for done in concurrent.futures.as_completed(pool.submit(check, flame, t) for t in tests):
                verdict, line = done.result()
                sums[suite, verdict] += 1
                if line:
                    print(line, flush=True)
                if os.environ.get("VERBOSE"):
                    show(suite, tests, sums)
        show(suite, tests, sums)
    sys.exit(any(v == "changed" for _, v in sums))


if __name__ == "__main__":
    main()
