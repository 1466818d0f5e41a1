"""Threads, children, signals and a fork, for a test of the calls seen: prints "fine"."""
import os
import queue
import signal
import subprocess
import threading
import time

done = queue.Queue()
def work(i):
    time.sleep(0.01)
    done.put(subprocess.run(["sh", "-c", f"exit {i}"]).returncode)
threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
for t in threads:
    t.start()
for t in threads:
    t.join()
assert sorted(done.get() for _ in threads) == list(range(8))
hits = []
signal.signal(signal.SIGALRM, lambda *a: hits.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
r, w = os.pipe()
while len(hits) < 5:
    signal.pause() if len(hits) % 2 else time.sleep(0.05)
signal.setitimer(signal.ITIMER_REAL, 0)
pid = os.fork()
if pid == 0:
    os.write(w, b"child")
    os._exit(4)
assert os.read(r, 9) == b"child" and os.waitpid(pid, 0)[1] == 4 << 8
print("fine")
