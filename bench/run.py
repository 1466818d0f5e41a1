#!/usr/bin/env python3
"""run.py [--tiny] [--dir DIR]: cost of recording, with flame and with other recorders.

`make bench` calls it; bench/README.md says how to read what it prints. From the
environment:

    BENCH_RUNS=N      rounds (default 7)
    BENCH_ONLY=A,B    sections: jq sqlite3 python cc1 churn memory fold simulators off
                      text pictures forks maps leaks kept
    CONFIGURE=FILE    a configure script, to be run in forks
    SUITE=COMMAND     a test suite, to be run in leaks
    FLAMEGRAPH=DIR    flamegraph.pl and its stackcollapse scripts, to compare with in text
                      and pictures
    FLAME, SHIM       the programs under test (default: those in build/)

--tiny uses inputs that take no time and show nothing but that the harness works.
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import time

import offcpu
import programs
import report
import sections
import variants

SECTIONS = list(programs.ALL) + ["churn", "memory", "fold", "simulators", "off", "text",
                                 "pictures", "forks", "maps", "leaks", "kept"]
# Sections that are scripts of their own.
SCRIPTS = {
    "text": ("fold.sh", "Other profilers' text, comparisons, merging"),
    "pictures": ("render.sh", "Pictures and exports"),
    "forks": ("forks.sh", "Commands of many processes"),
    "maps": ("maps.sh", "Memory that is mapped and unmapped"),
    "leaks": ("leaks.sh", "Leaks: the gate, the look, the stop"),
    "kept": ("kept.sh", "Who keeps memory: the run, the stop"),
}


def chosen_sections():
    wanted = [name for name in os.environ.get("BENCH_ONLY", "").split(",") if name]
    for name in wanted:
        if name not in SECTIONS:
            sys.exit("bench: BENCH_ONLY: no section '%s'; there are %s"
                     % (name, " ".join(SECTIONS)))
    return wanted or SECTIONS


def chosen_runs(default):
    text = os.environ.get("BENCH_RUNS", "")
    if not text:
        return default
    if not text.isdigit() or int(text) < 1:
        sys.exit("bench: BENCH_RUNS: '%s' is not a number of rounds" % text)
    return int(text)


def processor():
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as f:
            for line in f:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def peer_versions():
    """Debian's versions of the peers that are there."""
    names = ["heaptrack", "libjemalloc2", "libgoogle-perftools4", "valgrind", "liblsan0", "jq",
             "sqlite3", "gcc", "python3"]
    if not shutil.which("dpkg-query"):
        return ""
    said = subprocess.run(
        ["dpkg-query", "-W", "-f=${Status}|${Package} ${Version}\n"] + names,
        capture_output=True, text=True, check=False,
    ).stdout
    return ", ".join(line.split("|")[1] for line in said.splitlines() if "ok installed|" in line)


def preamble(bench, missing):
    print("## flame bench\n")
    print("- %d processors: %s; Linux %s" % (os.cpu_count(), processor(), platform.release()))
    print("- rounds: %d, interleaved; inputs: %s" % (bench.runs, bench.size))
    print("- load average at the start: %.2f" % os.getloadavg()[0])
    versions = peer_versions()
    if versions:
        print("- versions: " + versions)
    for line in missing:
        print("- missing: " + line)
    sys.stdout.flush()


def run_script(bench, section):
    """Prints what a script says; False when it failed."""
    name, title = SCRIPTS[section]
    print("\n### %s\n\n```" % title)
    sys.stdout.flush()
    bench.progress("bench/" + name)
    environment = dict(os.environ, FLAME=bench.flame, ROUNDS=str(bench.runs), TMPDIR=bench.directory)
    if bench.size == "tiny":
        environment["TINY"] = "1"
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(["bash", os.path.join(here, name), "--million"], env=environment,
                          stdin=subprocess.DEVNULL, check=False)
    print("```")
    return done.returncode == 0


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--tiny", action="store_true", help="inputs that show nothing")
    parser.add_argument("--dir", default=os.path.join(here, "..", "build", "bench"),
                        help="where inputs and recordings go (build/bench)")
    options = parser.parse_args()
    build = os.path.join(here, "..", "build")
    flame = os.path.abspath(os.environ.get("FLAME") or os.path.join(build, "flame"))
    shim = os.path.abspath(os.environ.get("SHIM") or os.path.join(build, "libflamemem.so"))
    for path in (flame, shim):
        if not os.path.exists(path):
            sys.exit("bench: %s is not there; build first (make)" % path)
    only = chosen_sections()
    runs = chosen_runs(7)
    directory = os.path.abspath(options.dir)
    os.makedirs(directory, exist_ok=True)

    found, missing = variants.find(shim)
    bench = sections.Bench(flame, directory, runs, "tiny" if options.tiny else "full", found)
    started = time.monotonic()
    preamble(bench, missing)

    out = report.Report(bench)
    chosen = [name for name in programs.ALL if name in only]
    results, live = sections.program_section(bench, chosen) if chosen else ({}, {})
    out.programs(results)
    if "churn" in only:
        out.churn(sections.churn_section(bench))
    holds = sections.hold_section(bench) if "memory" in only else {}
    out.memory(results, live, holds)
    out.disk(results)
    if "fold" in only:
        out.folding(sections.fold_section(bench))
    if "simulators" in only:
        out.slow(sections.slow_section(bench, chosen or list(programs.ALL)))
    if "off" in only:
        offcpu.report(out, offcpu.section(bench))
    failed = [name for name in SCRIPTS if name in only and not run_script(bench, name)]
    out.verdict()

    print()
    for note in bench.notes:
        print("- note: " + note)
    print("- took %.0f s; load average at the end: %.2f"
          % (time.monotonic() - started, os.getloadavg()[0]))
    bench.progress("")
    for name in os.listdir(directory):  # recordings are large; inputs are kept
        path = os.path.join(directory, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif name.startswith("packed-") or name.endswith(".out") or name == "folded":
            os.unlink(path)
    if failed:
        sys.exit("bench: failed: " + " ".join(failed))


if __name__ == "__main__":
    main()
