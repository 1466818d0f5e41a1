#!/usr/bin/env bash
# Functions of Python by name in a process that is attached to: those that run already, and those that
# begin later.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"
use_own_tmpdir

cat >server.py <<'E1'
import sys, threading

kept = []
def answer():
    print("done", flush=True)

def waits_since_before():
    for line in sys.stdin:
        word = line.strip()
        if word == "work":
            serve()
        elif word == "thread":
            t = threading.Thread(target=in_thread)
            t.start()
            t.join()
        elif word == "deep":
            kept.append(deeper(600))
        elif word == "made":
            for i in range(100):
                exec(compile(f"def f{i:03d}(): return bytearray({10000 + i})\nkept.append(f{i:03d}())\n",
                             f"made{i:03d}.py", "exec"))
        elif word == "quit":
            return
        answer()

def serve():
    for i in range(500):
        Orders().show(i)
class Orders:
    def show(self, i):
        kept.append(bytearray(20000))
        return max([i], key=lambda x: self.note(x))
    def note(self, x):
        kept.append(bytearray(30000))
        return x
def in_thread():
    kept.append(bytearray(900000))
def deeper(n):
    return deeper(n - 1) if n else bytearray(700000)
waits_since_before()
E1

# within WHAT WANT PATTERN: bytes of the stacks of `out` that match: at least as many, and hardly more.
within() {
    local got
    got=$(PATTERN=$3 awk '$0 ~ ENVIRON["PATTERN"] { sum += $NF } END { printf "%.0f", sum }' out)
    ok "$1: $3 has its $2 bytes" test "$got" -ge "$2" -a "$got" -le $(($2 + $2 / 50))
}

try() {
    local python=$1 what=$2
    PYTHONPERFSUPPORT=$3 begin "$python" server.py
    until_in_call "$victim" 0 0 # read
    if ! attach; then
        if grep -q 'CAP_SYS_PTRACE\|ptrace_scope\|seccomp filter over this flame' err; then
            tell quit
            skip_all ptrace "$(head -1 err)"
        fi
        diag "$(cat err)"
    fi
    ok "$what: it works under flame mem -p" tell work
    ok "$what: it starts a thread" tell thread
    ok "$what: it calls deep" tell deep
    ok "$what: it makes functions" tell made
    leave
    is_int "$status" 0 "$what: flame mem -p ends with status 0"
    fview alloc >out
    within "$what" 25000000 ';py::<module>:[^;]*server.py;py::waits_since_before:[^;]*;py::serve:[^;]*;py::Orders.show:'
    within "$what" 15000000 ';py::serve:.*;py::Orders.show.<locals>.<lambda>:[^;]*;py::Orders.note:'
    within "$what" 900000 ';py::Thread.run:.*;py::in_thread:'
    within "$what" 700000 ';py::deeper:[^;]*;py::deeper:'
    is_int "$(grep -oE 'py::deeper:[^;]*' out | wc -l)" 601 "$what: a recursion has each of its calls"
    is_int "$(grep -oE 'py::f[0-9]+:made[0-9]+\.py;.* [0-9]+$' out | sed -E 's/py::f(...):made(...)\.py;.* /\1 \2 /' |
        awk '$1 == $2 && $3 - $1 > 10000 && $3 - $1 < 10100 { n[$3 - $1]++ } END { for (i in n) print n[i] }')" 100 \
        "$what: each code object has its own name and bytes"
    ok "$what: it lives on" tell work
    begin_again "$what"
    tell quit
    exec 7>&- 8<&-
    status=0
    wait "$victim" || status=$?
    rm -f "/tmp/perf-$victim.map"
    is_int "$status" 0 "$what: it ends as without flame"
}

# Another attachment, without names.
begin_again() {
    attach --no-python
    ok "$1: it works under a second flame mem -p" tell work
    leave
    fview alloc >out
    is_int "$(grep -c 'py::' out)" 0 "$1: no Python function with --no-python"
}

# An interpreter that writes a map for perf has names there, too.
with_map() {
    PYTHONPERFSUPPORT=1 begin "$1" server.py
    until_in_call "$victim" 0 0
    attach
    ok "$2, PYTHONPERFSUPPORT=1: it works under flame mem -p" tell work
    leave
    fview alloc >out
    ok "$2, PYTHONPERFSUPPORT=1: a function has its name" grep -q 'py::Orders.show:' out
    is_int "$(grep -c 'py::Orders.note:.*py::Orders.note:' out)" 0 \
        "$2, PYTHONPERFSUPPORT=1: no function is there twice"
    tell quit
    exec 7>&- 8<&-
    wait "$victim"
    rm -f "/tmp/perf-$victim.map"
}

found=
tried=' '
for p in /usr/bin/python3 python3 python3.11 python3.12 python3.13 python3.14; do
    version=$("$p" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $tried in *" $version "*) continue ;; esac
    tried+="$version "
    case $version in
    3.11 | 3.12 | 3.13 | 3.14)
        # A script that starts the interpreter is not the process to attach to.
        p=$("$p" -c 'import sys, sysconfig, platform
if platform.machine() == "x86_64" and not sysconfig.get_config_var("Py_GIL_DISABLED"):
    print(sys.executable)')
        if [ -n "$p" ] && "$p" -c '' 2>/dev/null; then
            found=1
            try "$p" "Python $version" 0
            with_map "$p" "Python $version"
        fi
        ;;
    esac
done
[ -n "$found" ] || skip python 'no CPython 3.11 to 3.14 on x86-64'
done_testing
