#!/bin/bash
# Functions of Python by name, read from the interpreter's own frames.
. "${0%/*}/../lib.sh"
# shellcheck disable=SC2317 # functions are called through ok

cat >names.py <<'E2'
import os, sys, threading

kept = []

# Each in a code object that is gone when the next one comes, often to its address.
for i in range(100):
    exec(compile(f"def f{i:03d}(): return bytearray({10000 + i})\nkept.append(f{i:03d}())\n",
                 f"made{i:03d}.py", "exec"))
exec(compile("def evil(): return bytearray(70000)\nkept.append(evil())", "a;b\n\x1b[31m 5\u00e9.py", "exec"))

class Dying:
    def __del__(self):
        kept.append(bytearray(80000))
def let_die():
    dying = Dying()
let_die()

def in_thread():
    kept.append(bytearray(90000))
threads = [threading.Thread(target=in_thread) for _ in range(5)]
for t in threads:
    t.start()
for t in threads:
    t.join()

def deeper(n):
    return deeper(n - 1) if n else bytearray(110000)
kept.append(deeper(500))

def nested(n):  # each through a native function
    return max([n], key=lambda x: nested(x - 1)) if n else kept.append(bytearray(120000)) or 0
nested(50)

def gen():
    for i in range(3):
        yield bytearray(130000)
kept.append(list(gen()))

def above():
    return below()
def below():
    return bytearray(140000)
for i in range(600):  # the same native frames, and other functions
    one = above() if i % 3 else below()

try:
    import ctypes
    without_lock = ctypes.CDLL(None).malloc
except ImportError:
    without_lock = bytearray
def unlocked():  # while other threads may run
    without_lock(160000)
unlocked()

async def inner():
    kept.append(bytearray(170000))
async def outer():
    await inner()
try:
    outer().send(None)
except StopIteration:
    pass

resumed = gen()
def first():
    return next(resumed)
def second():
    return next(resumed)
kept += [first(), second()]  # the same frame with other callers

def in_child():
    kept.append(bytearray(150000))
pid = os.fork()
if not pid:
    in_child()
    os._exit(0)
os.waitpid(pid, 0)
E2

# sum PATTERN: bytes of the stacks of out that match.
sum() { PATTERN=$1 awk '$0 ~ ENVIRON["PATTERN"] { sum += $NF } END { printf "%.0f", sum }' out; }

try() {
    local python=$1 what=$2
    rm -f py*.flame
    PYTHONHASHSEED=0 run_expect_status 0 "$what: flame mem succeeds" \
        "$FLAME" mem -q --no-names -o py.flame -- "$python" names.py
    "$FLAME" fold --view alloc py*.flame >out
    is_int "$(grep -oE 'py::f[0-9]+:made[0-9]+\.py;.* [0-9]+$' out | sed -E 's/py::f(...):made(...)\.py;.* /\1 \2 /' |
        awk '$1 == $2 && $3 - $1 > 10000 && $3 - $1 < 10100 { n[$3 - $1]++ } END { for (i in n) print n[i] }')" 100 "$what: each code object has its own name and bytes"
    # One block each, and what the interpreter may allocate besides: so a lower and an upper bound.
    while read -r want pattern; do
        got=$(sum "$pattern")
        ok "$what: $pattern has its $want bytes" test "$got" -ge "$want" -a "$got" -le $((want + want / 10))
    done <<'E3'
70001 ;py::evil:a[^;]*b[^;]*;
80001 ;py::<module>:.*;py::Dying.__del__:[^;]*names.py;
450005 ;py::in_thread:[^;]*names.py;
110001 ;py::deeper:[^;]*names.py;[^;]*py::deeper:.*;py::deeper:
120001 ;py::nested:[^;]*;.*;py::nested.<locals>.<lambda>:.*;py::nested:
650005 ;py::gen:[^;]*names.py;
130001 ;py::first:.*;py::gen:
130001 ;py::second:.*;py::gen:
160000 ;py::unlocked:[^;]*names.py;
170001 ;py::outer:.*;py::inner:[^;]*names.py;
56000400 ;py::above:[^;]*names.py;py::below:[^;]*names.py;
28000200 ;py::<module>:[^;]*names.py;py::below:[^;]*names.py;
150001 ;py::in_child:[^;]*names.py;
E3
    is_int "$(grep -oE 'py::deeper:[^;]*' out | wc -l)" 501 "$what: a recursion has each of its calls"
    is_int "$(grep -c '^[^;]*;py::' out)" 0 "$what: no Python function is outside of the interpreter"
    PYTHONHASHSEED=0 "$FLAME" mem -q --no-python --no-names -o bare.flame -- "$python" names.py
    is_int "$("$FLAME" fold bare.flame | grep -c 'py::')" 0 "$what: no Python function with --no-python"
    run_expect_status 0 "$what: flame mem --sample succeeds" \
        "$FLAME" mem -q --sample 4k -o s.flame -- \
        "$python" names.py
    ok "$what: a sample has names of Python functions" \
        grep -q ";py::above:.*;py::below:" <("$FLAME" fold --view alloc s.flame)
    LD_PRELOAD=$SHIM FLAMEMEM_OPTIONS=out=$SCRATCH/r.flame:referee=1 "$python" names.py 2>said
    is_int "$(grep -c referee said)" 0 "$what: chains of frames are equal to those that are read afresh"
}

# An interpreter that a program loads while it runs.
embedded() {
    local library=$1 what=$2
    cat >embed.c <<'E4'
#include <dlfcn.h>
int main(int argc, char **argv)
{
    void *python = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : 0;
    void (*begin)(void) = python ? dlsym(python, "Py_Initialize") : 0;
    int (*run)(const char *) = python ? dlsym(python, "PyRun_SimpleString") : 0;

    if (!begin || !run)
        return 1;
    begin();
    return run("def loaded(): return bytearray(180000)\nkept = loaded()\n");
}
E4
    "${CC:-gcc}" -w -o embed embed.c -ldl || return
    "$FLAME" mem -q -o e.flame -- ./embed "$library"
    "$FLAME" fold --view alloc e.flame >out
    file_has out ';py::<module>:<string>;py::loaded:<string>;.* 18[0-9]{4}$' \
        "$what: an interpreter that is loaded later has names"
}

# Code without unwind tables between two functions of Python: the outer ones are not known to be its callers,
# and must not appear as called by it.
cat >made.py <<'E5'
import ctypes, mmap
kept = []
@ctypes.CFUNCTYPE(None)
def called_back():
    kept.append(bytearray(190000))
page = mmap.mmap(-1, 4096, prot=7)
# sub $24,%rsp; movabs $F,%rax; call *%rax; add $24,%rsp; nop; ret: no frame pointer
code = (b"\x48\x83\xec\x18\x48\xb8" + ctypes.cast(called_back, ctypes.c_void_p).value.to_bytes(8, "little") +
        b"\xff\xd0\x66\x90\x48\x83\xc4\x18\xc3")
page.write(code)
def calls_made_code():
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
calls_made_code()
E5

found=
tried=' '
for p in /usr/bin/python3 python3 python3.11 python3.12 python3.13 python3.14 python3.15; do
    version=$("$p" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null) || continue
    case $tried in *" $version "*) continue ;; esac
    tried+="$version "
    case $version in
    3.11 | 3.12 | 3.13 | 3.14 | 3.15)
        if "$p" -c 'import sys, sysconfig, platform
sys.exit(platform.machine() != "x86_64" or bool(sysconfig.get_config_var("Py_GIL_DISABLED")))'; then
            found=1
            try "$p" "Python $version"
            library=$("$p" -c 'import os, sysconfig as s
path = os.path.join(s.get_config_var("LIBDIR") or "", s.get_config_var("INSTSONAME") or "")
print(path if ".so" in path and os.path.exists(path) else "")')
            [ -z "$library" ] || embedded "$library" "Python $version"
            if "$p" -c 'import ctypes' 2>/dev/null; then
                "$FLAME" mem -q -o m.flame -- "$p" made.py
                "$FLAME" fold --view alloc m.flame >out
                is_int "$(grep -c 'unknown.*py::calls_made_code.*py::called_back' out)" 0 \
                    "Python $version: no function appears as called by code that it calls"
                ok "Python $version: a function that made code calls has its name" grep -q 'py::called_back' out
            fi
        fi
        ;;
    3.*)
        PYTHONHASHSEED=0 "$FLAME" mem -o old.flame -- "$p" -c 'x = bytearray(90000)' 2>err
        file_has err "functions of .*Python .* have no names" \
            "Python $version: the summary says that it has no names"
        ;;
    esac
done
[ -n "$found" ] || skip python 'no CPython 3.11 to 3.15 on x86-64'
done_testing
