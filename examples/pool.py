"""pool.py: a pool of eight threads that share one lock, and one that holds it too long.

Work is a nap (as for a reply of another machine) and an update of a shared table.
Now and then somebody saves the table with the lock held. `flame off --view chain`
shows everybody's wait for the lock and, above it, save() as what they waited for.
"""

import os
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor

lock = threading.Lock()
table = {}


def fetch(i):
    time.sleep(0.002)
    return i * i


def save():
    with tempfile.NamedTemporaryFile("w") as f:
        for key, value in sorted(table.items()):
            f.write("%s %s\n" % (key, value))
        f.flush()
        os.fsync(f.fileno())
        time.sleep(0.02)  # a slow disk


def work(i):
    value = fetch(i)
    with lock:
        table[i % 100] = value
        if i % 50 == 0:
            save()


with ThreadPoolExecutor(8, thread_name_prefix="pool") as pool:
    list(pool.map(work, range(1500)))
print(len(table))
