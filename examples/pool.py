"""pool.py [TASKS]: a pool of eight threads that share one lock, which one of them holds too long.

    build/flame off --view chain -o pool.svg -- python3 examples/pool.py

Work is a nap (as for a reply of another machine) and an update of a shared table. Now and
then somebody saves the table with the lock held. The chain graph has everybody's wait for
the lock, above that work(), which gave it back, and above that save(), which its holder
slept in. CPython from 3.12 on tells the names of its functions; an older one shows the
interpreter's own, and the call that save() makes.
"""

import os
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()
table = {}


def fetch(i):
    time.sleep(0.002)
    return i * i


def save(f):
    f.seek(0)
    for key, value in sorted(table.items()):
        f.write("%s %s\n" % (key, value))
    f.flush()
    os.fsync(f.fileno())
    time.sleep(0.02)  # a slow disk


def work(i, f):
    value = fetch(i)
    with lock:
        table[i % 100] = value
        if i % 50 == 0:
            save(f)


def main():
    tasks = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    if hasattr(sys, "activate_stack_trampoline"):  # as with python3 -X perf
        sys.activate_stack_trampoline("perf")
    with tempfile.TemporaryFile("w") as f, ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(tasks), [f] * tasks))
    print(len(table))


main()
