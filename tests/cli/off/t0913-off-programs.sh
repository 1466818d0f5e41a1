#!/bin/bash
# Programs that tracing is known to disturb behave as untraced.
. "${0%/*}/../lib.sh"

mkdir tmp
export TMPDIR=$SCRATCH/tmp

off() {
    timeout 100 "$FLAME" off -q "$@"
}

# ---- signals that are ignored ----

compile_victim ignoring -pthread
for mode in '' --no-in-process --no-filter '--hz 199' '--no-in-process --hz 199'; do
    # shellcheck disable=SC2086 # words
    run off $mode -o x.folded -- ./ignoring 1
    is_int "$status" 0 "${mode:-with the filter}: ignored SIGCHLDs do not disturb the program"
    is_str "$(grep -v '^write ' out | grep -v ' eintr=0 short=0 early=0 rounds=[1-9]')" '' \
        "${mode:-with the filter}: ignored signals cut no call short"
    # Without the filter the tracer may detach, so it does not complete a partial write itself.
    [ "$mode" = --no-filter ] ||
        file_has out '^write eintr=0 short=0 early=0 rounds=[1-9]' \
            "${mode:-with the filter}: ignored signals cut no write short"
    is_int "$(awk '/^(epoll|sigtimedwait|semtimedop)/ {sub(".*=", ""); if ($0 + 0 < 5) n++} END {print n + 0}' \
        out)" 0 "${mode:-with the filter}: ignored signals do not restart timeouts"
done

# A signal that is not ignored, and a stop, end calls as without tracing.
cat >seen.py <<'END'
import ctypes, os, signal, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
ep, buf = libc.epoll_create1(0), ctypes.create_string_buffer(64)
signal.signal(signal.SIGUSR1, lambda *a: None)
signal.siginterrupt(signal.SIGUSR1, True)
r, w = os.pipe()
main = threading.get_native_id()
returned = threading.Event()
def word(path):
    return open(path).read().split()
# Whether the main thread sleeps in one of the calls.
def sleeps_in(calls):
    return word(f"/proc/self/task/{main}/syscall")[0] in calls and \
        word(f"/proc/self/task/{main}/stat")[2] == "S"
def later(what, calls):
    def send():
        while not sleeps_in(calls):
            time.sleep(0.01)
        if what:
            os.kill(os.getpid(), what)
        else:
            os.system(f"kill -STOP {os.getpid()}; "
                      f"while cat /proc/{os.getpid()}/task/*/status | grep ^State: | grep -qv '[Tt] ('; "
                      f"do sleep 0.01; done; kill -CONT {os.getpid()}")
    t = threading.Thread(target=send)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    t.start()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
    return t
# Once the write has been cut by the signal; if it is not, it is to end all the same.
def drain():
    returned.wait(20)
    while os.read(r, 1 << 16):
        pass
epolls, writes = ("232", "281", "22"), ("1", "64") # also of aarch64
for what in signal.SIGUSR1, 0:
    t = later(what, epolls)
    n = libc.epoll_wait(ep, buf, 1, 60000)
    print(what, n, ctypes.get_errno())
    t.join()
threading.Thread(target=drain).start()
t = later(signal.SIGUSR1, writes)
n = libc.write(w, ctypes.create_string_buffer(300000), 300000)
returned.set()
print(n)
os.close(w)
END
python3 seen.py >want
for mode in '' --no-filter --no-in-process; do
    # shellcheck disable=SC2086
    run off $mode -o x.folded -- python3 seen.py
    is_str "$(cat out)" "$(cat want)" "${mode:-with the filter}: handled signals end calls as untraced"
done

# ---- many, short, odd ----

cat >many.sh <<'END'
s=0
for i in $(seq 150); do
    x=$(/bin/echo "$i")
    s=$((s + x))
    /bin/true | /bin/cat
done
echo $s
exit 9
END
cat >storm.py <<'END'
import concurrent.futures, os, subprocess
def one(i):
    r = subprocess.run(["/bin/sh", "-c", f"echo {i}; exit {i % 7}"], stdout=subprocess.PIPE)
    return int(r.stdout), r.returncode
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    assert list(pool.map(one, range(100))) == [(i, i % 7) for i in range(100)]
for _ in range(100):
    assert os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)[1] == 0
print("good")
END
for mode in '' '--no-filter --hz 99' --no-follow --no-in-process; do
    # shellcheck disable=SC2086
    run off $mode -o x.folded -- sh many.sh
    is_str "$status $(cat out)" '9 11325' "${mode:-with the filter}: a script of hundreds of processes works"
    # shellcheck disable=SC2086
    run off $mode -o x.folded -- python3 storm.py
    is_str "$status $(cat out)" '0 good' "${mode:-with the filter}: eight threads that spawn processes work"
done

compile_victim filtering
./filtering >want
for mode in '' --no-filter '--hz 199' --no-in-process; do
    # shellcheck disable=SC2086
    run off $mode -o x.folded -- ./filtering
    is_str "$(cat out)" "$(cat want)" \
        "${mode:-with the filter}: the program's own seccomp filter, traps and masks work"
done

# No limit or mask that a command inherits is flame's.
state='ulimit -a; ulimit -Ha; umask; grep -E "^(Sig[BIC]|Shd|Cap|Cpus|Mems)" /proc/self/status
cat /proc/self/oom_score_adj /proc/self/timerslack_ns; pwd; env | sort | grep -v ^_='
sh -c "$state" >want 2>&1
# Where libflamewait.so logs the calls, it needs two variables in the environment.
off -q -o x.folded -- sh -c "$state" 2>&1 | grep -v '^FLAME_WAITS=/proc/\|^LD_PRELOAD=/.*/libflamewait\.so$' >out
is_str "$(cat out)" "$(cat want)" 'a command inherits limits, masks and environment unchanged'
for mode in --no-in-process --no-filter '-d 9'; do
    # shellcheck disable=SC2086
    off $mode -o x.folded -- sh -c "$state" >out 2>&1
    is_str "$(cat out)" "$(cat want)" "$mode: a command inherits limits, masks and environment unchanged"
done

# ---- tracers of their own ----

run off -o x.folded -- "$FLAME" off -q -o y.folded -- true
is_int "$status" 2 'flame off inside flame off ends with status 2'
file_has err '^flame: true cannot be traced: process [0-9]+ traces what runs here already$' \
    'flame off inside flame off says why it cannot trace'
if command -v strace >/dev/null; then
    run off --no-filter --no-follow -o x.folded -- strace -f -o st.out sh -c 'true; exit 3'
    is_int "$status" 3 'strace under flame off --no-filter --no-follow ends with its status'
    file_has st.out 'exited with 3' 'strace under flame off --no-filter --no-follow can trace'
else
    skip strace 'no strace'
fi

# ---- 32-bit programs ----

if ${CC:-gcc} -m32 -nostdlib -static -ffreestanding -fno-stack-protector -fno-pic -no-pie -o narrow \
    "$ROOT/tests/victims/off/narrow.c" 2>cc.err && ./narrow; then
    run off -o x.svg -- ./narrow
    is_int "$status" 2 'flame off of a 32-bit program ends with status 2'
    is_str "$(cat err)" 'flame: ./narrow: is a 32-bit program, whose system calls cannot be traced' \
        'flame off of a 32-bit program says why it cannot trace'
    for mode in '' '--no-filter --hz 500'; do
        # shellcheck disable=SC2086
        run off $mode -o x.folded -- sh -c './narrow && ./narrow && exit 6'
        is_int "$status" 6 "${mode:-with the filter}: a 32-bit child runs"
        is_int "$(grep -c 'is a 32-bit program: what it waits for is not seen' err)" 1 \
            "${mode:-with the filter}: a 32-bit child is reported once"
    done
    ./narrow &
    pid=$!
    until_true test /proc/$pid/exe -ef narrow
    run off -d 0.1 -o x.svg -p $pid
    is_int "$status" 2 'flame off -p of a 32-bit process ends with status 2'
    file_has err "^flame: process $pid is a 32-bit program" \
        'flame off -p of a 32-bit process says why it cannot trace'
    wait $pid
    is_int $? 0 'flame off -p of a 32-bit process does not disturb it'
else
    skip m32 'this compiler or kernel has no 32-bit programs'
fi

# ---- attached to twice ----

sleep 20 &
pid=$!
disown
off -d 0.05 -o x.folded -p $pid
off -d 0.15 -o x.folded -p $pid
file_has x.folded ';(clock_)?nanosleep [0-9]+$' 'the second attach to a sleep still names its call'
kill $pid

is_str "$(ls tmp)" '' 'flame off leaves no recording in TMPDIR'
done_testing
