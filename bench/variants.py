"""Variants that a program is run under: nothing, flame in its modes, and other recorders.

A recorder that is not on the machine is left out and named. Each is used as its
own manual says, at its cheapest: without its analysis, writing to a file.
"""

import glob
import os
import shutil
import subprocess


class Variant:
    """`env` and `prefix` may hold {dir}, the directory of the run. `base` is the
    variant it is compared with. `once` is for tools of another order of cost, which
    run once, on a smaller input. `only` names the one section that it is run in."""

    def __init__(self, key, label, env=None, prefix=(), base="plain", once=False, only=None):
        self.key = key
        self.label = label
        self.env = env or {}
        self.prefix = list(prefix)
        self.base = base
        self.once = once
        self.only = only

    def command(self, argv, env, directory):
        """argv and environment of a run; the recorder's settings beside the program's."""
        prefix = [word.replace("{dir}", directory) for word in self.prefix]
        mine = {k: v.replace("{dir}", directory) for k, v in self.env.items()}
        return prefix + argv, {**env, **mine}


def library(name):
    """The path of a shared library the loader or gcc knows, or None."""
    listed = subprocess.run(
        ["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False
    ).stdout
    for line in listed.splitlines():
        if line.split()[:1] == [name]:
            return line.split(" => ")[-1]
    return None


def compiler_library(name):
    compiler = shutil.which("gcc")  # clang has its sanitizers as archives only
    if not compiler:
        return None
    said = subprocess.run(
        [compiler, "-print-file-name=" + name], capture_output=True, text=True, check=False
    ).stdout.strip()
    return os.path.realpath(said) if os.path.isabs(said) and os.path.exists(said) else None


def heaptrack_file(name):
    for place in ("/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu", "/usr/local/lib"):
        for found in glob.glob(place + "/heaptrack/" + name):
            return found
    return None


SAMPLE = 512 * 1024  # bytes between the blocks that samplers record
LG_SAMPLE = SAMPLE.bit_length() - 1
SAMPLES = "%d KiB samples" % (SAMPLE // 1024)


def flame_variant(key, label, shim, option, **more):
    options = "out={dir}/trace.flame:follow=0" + (":" + option if option else "")
    return Variant(key, label, {"LD_PRELOAD": shim, "FLAMEMEM_OPTIONS": options}, **more)


def shim_knows(shim, option):
    """Whether this shim has the option; it names those it does not know."""
    said = subprocess.run(
        ["/bin/true"],
        env={"LD_PRELOAD": shim, "FLAMEMEM_OPTIONS": "out=/dev/null/x:" + option},
        capture_output=True,
        text=True,
        check=False,
    ).stderr
    return "'" + option + "'" not in said


def find(shim):
    """(variants, missing): those that can be run here, and one line for each that
    cannot."""
    variants = [Variant("plain", "plain")]
    missing = []

    for key, label, option in (
        ("off", "flame, recording off", "record=0"),
        ("flame", "flame, exact", ""),
        ("sampled", "flame, " + SAMPLES, "sample=%d" % SAMPLE),
    ):
        if not option or shim_knows(shim, option):
            variants.append(flame_variant(key, label, shim, option))
        else:
            missing.append("%s: the recorder has no option %s" % (label, option))

    for clock in ("bytes", "time"):
        label, option = "flame, lifetimes by " + clock, "lifetimes=" + clock
        if shim_knows(shim, option):
            variants.append(
                flame_variant("lives-" + clock, label, shim, option, base="flame", only="churn")
            )
        else:
            missing.append("%s: the recorder has no option %s" % (label, option))

    preload = heaptrack_file("libheaptrack_preload.so")
    if preload:
        env = {"LD_PRELOAD": preload, "DUMP_HEAPTRACK_OUTPUT": "{dir}/heaptrack.raw"}
        variants.append(Variant("heaptrack", "heaptrack", env))
    else:
        missing.append("heaptrack: not installed")

    jemalloc = library("libjemalloc.so.2")
    if jemalloc:
        variants.append(Variant("jemalloc", "jemalloc, not profiling", {"LD_PRELOAD": jemalloc}))
        conf = "prof:true,prof_final:true,lg_prof_sample:%d,prof_prefix:{dir}/je" % LG_SAMPLE
        env = {"LD_PRELOAD": jemalloc, "MALLOC_CONF": conf}
        if "Invalid conf" in subprocess.run(
            ["/usr/bin/env", "true"],
            env={"LD_PRELOAD": jemalloc, "MALLOC_CONF": "prof:false"},
            capture_output=True,
            text=True,
            check=False,
        ).stderr:
            missing.append("jemalloc profiling: not built into " + jemalloc)
        else:
            variants.append(
                Variant("jeprof", "jemalloc, " + SAMPLES, env, base="jemalloc")
            )
    else:
        missing.append("jemalloc: not installed")

    tcmalloc = library("libtcmalloc.so.4")
    if tcmalloc:
        variants.append(Variant("tcmalloc", "tcmalloc, not profiling", {"LD_PRELOAD": tcmalloc}))
        env = {"LD_PRELOAD": tcmalloc, "HEAPPROFILE": "{dir}/tc"}
        label = "gperftools' heap profiler"  # some 8 us a call on x86-64: among the slow
        variants.append(Variant("heapprof", label, env, once=True))
    else:
        missing.append("gperftools: libtcmalloc.so.4 is not installed")

    lsan = compiler_library("liblsan.so")
    if lsan:
        env = {"LD_PRELOAD": lsan, "LSAN_OPTIONS": "exitcode=0"}
        variants.append(Variant("lsan", "LeakSanitizer", env))
    else:
        missing.append("LeakSanitizer: gcc has no liblsan.so")

    valgrind = shutil.which("valgrind")
    if valgrind:
        for tool, label in (("massif", "valgrind massif"), ("dhat", "valgrind dhat")):
            prefix = [valgrind, "-q", "--tool=" + tool, "--%s-out-file={dir}/out" % tool]
            variants.append(Variant(tool, label, prefix=prefix, once=True))
    else:
        missing.append("valgrind: not installed")
    return variants, missing
