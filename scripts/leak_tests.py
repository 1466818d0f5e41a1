"""The tests of leak_suites.py: other projects' suites, and programs in normal use. A suite is a function
of the directory where its files lie that yields Tests; docs/leaks.md has the commands that get those."""
import collections
import glob as paths
import os
import re
import shutil

from leak_programs import NOT_ROOT, PROGRAMS

PYTHON = """array binascii bisect bz2 cmath codecs csv ctypes datetime dbm_gnu deque exceptions
    fcntl float gc hashlib heapq io itertools json lzma marshal math mmap operator pickle posix pyexpat
    random re set slice sqlite3 struct structseq thread threading_local time unicodedata weakref
    xml_etree_c zlib""".split()
MORE_PYTHON = """asyncore builtin capi class codeop compile concurrent_futures contextlib copy coroutines
    curses dataclasses decimal dict dis email enum faulthandler fileio fork1 functools generators getpass
    gettext gzip httplib httpservers imaplib import importlib inspect ioctl json kqueue list locale logging
    mailbox memoryview multiprocessing_fork ntpath openpty opcodes os pathlib pdb pickletools poll popen
    posixpath pprint profile pty pwd queue readline resource sched select selectors shelve shlex shutil signal
    smtplib socket socketserver ssl stat statistics str subprocess symtable syntax sys sysconfig syslog
    tarfile tempfile termios thread threadedtempfile threading timeit tokenize traceback tracemalloc tuple
    typing unicode unittest urllib urllib2_localnet uuid venv wait3 wait4 warnings wsgiref xmlrpc zipapp
    zipfile zipimport zoneinfo asyncio""".split()
SQL = {
    "rows": "create table t(a,b); with recursive c(n) as (select 1 union all select n+1 from c where "
            "n<20000) insert into t select n, hex(n*n) from c; create index i on t(b); select count(*), "
            "sum(length(b)) from t where b > '5'; update t set b = b || a where a % 3 = 0; delete from t "
            "where a % 2; vacuum; select count(*) from t;",
    "fts": "create virtual table f using fts5(x); with recursive c(n) as (select 1 union all select n+1 "
           "from c where n<2000) insert into f select 'word' || n || ' and word' || n%7 from c; select "
           "count(*) from f where f match 'word3'; insert into f(f) values('optimize');",
    "json": "select json_extract('{\"a\":[1,2,{\"b\":3}]}', '$.a[2].b'); select count(*) from "
            "json_each('[1,2,3]'); select json_group_array(value) from json_each('[3,1]');",
    "error": "create table t(a primary key); insert into t values(1); insert into t values(1);",
    "rtree": "create virtual table r using rtree(id,x0,x1); insert into r values(1,2,3),(2,4,5); select "
             "* from r where x0 > 1;",
    "window": "with t(a) as (values(1),(2),(3)) select a, sum(a) over (order by a), lag(a) over () from "
              "t; explain query plan select 1;",
}

# A test: the words that run it; where (None: in a directory of its own, which is TMPDIR and HOME in
# any case); additions to the environment; the lines of its output that are compared; whether it
# must not run as root; and the programs that memcheck checks, if those are not all that it starts.
Test = collections.namedtuple("Test", "suite name argv cwd env lines not_root only",
                              defaults=(r"(not )?ok \d|\d+ of \d+ tests passed", False, ()))
ALL = r"(?s:.*)"


def is_program(path):
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        return False
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def glib(directory):
    root = os.path.join(directory, "root", "usr")
    programs = os.path.join(root, "libexec", "installed-tests", "glib")
    env = {"G_TEST_SRCDIR": programs, "G_TEST_BUILDDIR": programs, "GIO_MODULE_DIR": "/nowhere",
           "G_SLICE": "always-malloc"}  # as valgrind has it: blocks of their own, no pools
    for test in sorted(os.listdir(os.path.join(root, "share", "installed-tests", "glib"))):
        name = re.sub(r"\.test$", "", test)
        program = os.path.join(programs, name)
        if is_program(program):
            yield Test("glib", name, [program, "--tap"], programs, env)


def python(directory):
    top = os.path.join(directory, "py")
    for name in PYTHON:
        if os.path.exists(os.path.join(top, "test", f"test_{name}.py")):
            yield Test("python", name, ["/usr/bin/python3.11", "-m", "test", "-q", f"test_{name}"], None,
                       {"PYTHONPATH": top, "PYTHONDONTWRITEBYTECODE": "1"})


def jq(directory):
    top = os.path.join(directory, "src", "jq-jq-1.6")
    for name in ("jq", "onig", "base64", "optional"):
        yield Test("jq", name, ["/usr/bin/jq", "-L", "tests/modules", "--run-tests", f"tests/{name}.test"],
                   top, {})
    for i, words in enumerate((["-n", "[range(10000)]|add"], ["-n", "input"], ["-r", ".", "no such file"],
                               ["-n", "reduce range(9999) as $i ({}; .[$i|tostring]=[$i])|length"],
                               ["-n", "{}|.a.b.c=1|error"], ["-n", "syntax ("],
                               ["-n", "[limit(5; repeat(1))]|@csv, @json, @base64"],
                               ["-L", "tests/modules", "-n", 'import "a" as a; a::a'],
                               ["--stream", "-c", ".", "tests/modules/data.json"],
                               ["--slurp", "length", "tests/modules/data.json"])):
        yield Test("jq", f"filter-{i}", ["/usr/bin/jq"] + words, top, {})


def sqlite(directory):
    for name, script in SQL.items():
        yield Test("sqlite", name, ["/usr/bin/sqlite3", ":memory:", script], None, {})
    base = os.path.join(directory, "x.db")
    yield Test("sqlite", "file", ["/usr/bin/sqlite3", base, "drop table if exists t;" + SQL["rows"]], None, {})
    yield Test("sqlite", "dump", ["/usr/bin/sqlite3", ":memory:", SQL["rtree"], ".dump"], None, {})



def more_python(directory):
    top = os.path.join(directory, "py")
    for name in MORE_PYTHON:
        where = os.path.join(top, "test", f"test_{name}")
        if os.path.exists(where + ".py") or os.path.isdir(where):
            yield Test("more_python", name,
                       ["/usr/bin/python3.11", "-m", "test", "-q", "-u", "network", "--timeout", "900",
                        f"test_{name}"], None, {"PYTHONPATH": top, "PYTHONDONTWRITEBYTECODE": "1"})


def git(directory):
    """Scripts that git's own developers have found to be without leaks, under LeakSanitizer."""
    top = os.path.join(directory, "src", "git-2.39.5")
    for script in sorted(paths.glob(os.path.join(top, "t", "t[013]*.sh"))):
        with open(script, errors="replace") as f:
            text = f.read()
        if "TEST_PASSES_SANITIZE_LEAK=true" in text and text.count("\n") <= 100:
            yield Test("git", os.path.basename(script)[:-3],
                       ["sh", "-c", 'TEST_OUTPUT_DIRECTORY=$TMPDIR exec sh "$0" --root="$TMPDIR"', script],
                       os.path.join(top, "t"),
                       {"GIT_TEST_INSTALLED": "/usr/lib/git-core", "TEST_NO_MALLOC_CHECK": "1"},
                       only=("/usr/lib/git-core/git", os.path.join(top, "t", "helper", "test-tool")))


def perl(directory):
    top = os.path.join(directory, "src", "perl-5.36.0", "t")
    for script in sorted(sum((paths.glob(os.path.join(top, d, "*.t"))
                              for d in ("base", "cmd", "op", "re", "uni", "lib", "comp")), [])):
        name = os.path.relpath(script, top)
        if hash_of(name) % 4 == 0:
            yield Test("perl", name, ["/usr/bin/perl", name], top, {"PERL_HASH_SEED": "0"})


def hash_of(name):
    """Hash that is equal in each run. It selects a quarter of a large suite."""
    return sum(i * ord(c) for i, c in enumerate(name, 1))


def bash(directory):
    top = os.path.join(directory, "src", "bash-5.2.15", "tests")
    for script in sorted(os.listdir(top)):
        if script.startswith("run-") and script not in ("run-all", "run-minimal", "run-gprof"):
            yield Test("bash", script[4:],
                       ["sh", "-c", 'BASH_TSTOUT=$TMPDIR/out exec sh ./"$0"', script], top,
                       {"THIS_SH": "/bin/bash", "PATH": f"{top}:{os.environ['PATH']}"}, lines=ALL)


def redis(directory):
    top = os.path.join(directory, "redis")
    units = [os.path.relpath(u, os.path.join(top, "tests"))[:-4]
             for u in sorted(paths.glob(os.path.join(top, "tests", "unit", "*.tcl")) +
                             paths.glob(os.path.join(top, "tests", "unit", "type", "*.tcl")))]
    for i, unit in enumerate(units):
        yield Test("redis", unit,
                   ["sh", "-c", 'cp -r "$0" r && cd r && exec tclsh tests/test_helper.tcl --single "$1" '
                    '--clients 1 --baseport "$2" --portcount 40 --tags "-slow -large-memory"', top, unit,
                    str(21000 + 60 * i)], None, {"TERM": "dumb"}, lines=r"\[(ok|err|exception|ignore)\]")


def programs(_directory):
    for name, (needs, script) in PROGRAMS.items():
        if all(shutil.which(n, path=f"{os.environ['PATH']}:/usr/lib/postgresql/15/bin") for n in needs):
            yield Test("programs", name, ["sh", "-c", "mkdir work && cd work\n" + script], None, {"LC_ALL": "C"}, lines=ALL,
                       not_root=name in NOT_ROOT)


SUITES = {f.__name__: f for f in (glib, python, more_python, jq, sqlite, git, perl, bash, redis, programs)}
