#!/bin/bash
# Functions of Python by name in waits: each sleeps for a known time, in a program that logs its waits, in one that
# is stopped for them, in a process that runs already, and where nothing stops.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

pythons=
for python in python3 python3.11 python3.12 python3.13 python3.14 python3.15; do
    # The interpreter that the command runs in the end, once each, and not a script that finds it.
    path=$("$python" -c 'import sys
assert sys.version_info >= (3, 11) and sys.platform == "linux"
print(sys.executable)' 2>/dev/null) || continue
    path=$(realpath "$path")
    case " $pythons " in *" $path "*) ;; *) pythons="$pythons $path" ;; esac
done
[ -n "$pythons" ] || skip_all python 'there is no CPython of 3.11 or later'
[ "$(uname -m)" = x86_64 ] || skip_all processor 'layouts of interpreters are known for x86-64'

cat >waits.py <<'E1'
import asyncio, functools, os, select, sys, threading
# Sleeps for a time that begins in the kernel. time.sleep() asks for an end that it has computed before the call,
# so a program that is stopped at the call sleeps less.
rest = functools.partial(select.select, (), (), ())

def nap(seconds): rest(seconds)
def in_main(): nap(0.11)
class Shop:
    def search(self, item): return [self.look(i) for i in (1, 2)]
    def look(self, i): rest(0.06)
def numbers():
    for i in range(2):
        rest(0.07)
        yield i
def consume(): return list(numbers())
async def later(): rest(0.08)
async def first(): await later()
def in_thread():
    Shop().search("x")
def key(x):
    rest(0.04)
    return x
def by_c(): return max([1, 2, 3], key=key)
def in_child(): rest(0.17)
def deeper(n): return deeper(n - 1) if n else rest(0.09)
class Größe:
    def warten(self): rest(0.05)

def main():
    in_main()
    consume()
    asyncio.run(first())
    by_c()
    deeper(100)
    Größe().warten()
    t = threading.Thread(target=in_thread)
    t.start()
    t.join()
    for i in range(3): # each lies where the one before was freed, perhaps
        exec(f"def made{i}(): rest(0.0{i + 3})\nmade{i}()\n", {"rest": rest})
    pid = os.fork()
    if not pid:
        in_child()
        os._exit(0)
    os.waitpid(pid, 0)
main()
E1

# has NAME TIMES MS PATTERN: so many sleeps have stacks that match, together of so many ms. On a busy machine the tracer
# does not know exactly when a thread stopped, and takes a part of a sleep for a stop. So where threads are stopped the
# sleeps last as long as they should from begin to end.
has() {
    local got all times least
    got=$(grep -E ';select 0 fds [0-9]+$' folded | sum "$4")
    all=$(grep -E ';select 0 fds(;wa)? [0-9]+$' extents | sum "$4")
    times=$(grep -E ';select 0 fds;\[[^;]+ [0-9]+$' counted | sum "$4")
    least=$(($3 * 950))
    [ "$OFF_HOW" = --in-process ] || least=0
    ok "$1: ${4//;/ } slept $3 ms ($got us, $all us from begin to end, $times times)" \
        test "$times" -eq "$2" -a "$got" -ge "$least" -a "$all" -ge $(($3 * 1000))
}

check() {
    oview off >folded
    oview latency >counted
    spans >extents
    has "$1" 1 110 ';py::<module>:[^;]*waits.py;(.*;)?py::main:[^;]*;(.*;)?py::in_main:[^;]*;(.*;)?py::nap:'
    has "$1" 2 120 ';py::Thread.run:[^;]*;(.*;)?py::in_thread:[^;]*;(.*;)?py::Shop.search:.*;py::Shop.look:'
    has "$1" 2 140 ';py::consume:[^;]*;.*;py::numbers:'
    has "$1" 1 80 ';py::first:[^;]*;(.*;)?py::later:'
    has "$1" 3 120 ';py::by_c:[^;]*;.*;py::key:'
    has "$1" 1 90 ';py::deeper:[^;]*;(.*;)?py::deeper:'
    has "$1" 1 50 ';py::Größe.warten:'
    has "$1" 1 170 ';py::main:[^;]*;(.*;)?py::in_child:'
    for i in 0 1 2; do has "$1" 1 $((10 * i + 30)) ";py::made$i:<string>;"; done
    is_str "$(grep -E 'py::(nap|look|numbers|later|key):[^;]*;(.*;)?py::(in_main|Shop|consume|first|by_c)' folded)" '' \
        "$1: no function is below the one that it calls"
}

for python in $pythons; do
    for OFF_HOW in --in-process --no-in-process; do
        v="${python##*/}, $OFF_HOW"
        off "$python" waits.py
        is_int "$status" 0 "$v: status under flame off"
        check "$v"
        off --no-python "$python" waits.py
        is_int "$(oview off | grep -c 'py::')" 0 "$v: --no-python leaves functions out"
        # With code that calls each function by a name of its own, names are there once.
        "$python" -c 'import sys; sys.exit(sys.version_info < (3, 12))' || continue
        PYTHONPERFSUPPORT=1 off "$python" waits.py
        check "$v, -X perf"
        drop_maps t.flame
        is_str "$(grep -E '(py::(nap|in_main|numbers|key):[^;]*);(.*;)?\1;' folded)" '' "$v, -X perf: each function is there once"
    done
done

# ---- a process that runs ----

cat >server.py <<'E1'
import sys, time, threading
def answer(): time.sleep(0.02)
def serve():
    while True: answer()
def work():
    while True: time.sleep(0.03)
threading.Thread(target=work, daemon=True).start()
print("up", flush=True)
serve()
E1
for how in '' --no-stops; do
    python=${pythons##* }
    : >up
    "$python" server.py >up &
    pid=$!
    until_true grep -q up up
    run "$FLAME" off $how -q -p $pid -d 1 -o p.folded
    kill $pid
    wait $pid 2>/dev/null
    if [ "$status" -ne 0 ] && grep -qE 'CAP_SYS_PTRACE|ptrace_scope|perf_event' err; then
        skip ptrace "$(head -n 1 err)"
        continue
    fi
    is_int "$status" 0 "-p $how ends with status 0"
    cp p.folded folded
    for way in 'serve:[^;]*;(.*;)?py::answer' 'Thread.run:[^;]*;(.*;)?py::work'; do
        got=$(grep -E 'nanosleep [0-9]+$' folded | sum ";py::$way:")
        ok "-p $how: $way slept most of the second ($got us)" test "$got" -gt 600000
    done
done

done_testing
