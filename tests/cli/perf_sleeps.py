"""perf_sleeps.py COMM < perf-script-text: how long the first thread called COMM slept
(state S, so not in a tracer's stops), by the kernel's own events: from the sched_switch
away from it to the sched_waking that ended it. Prints `MICROSECONDS` and then, a line
each, `MICROSECONDS WAKER`, where WAKER is `thread` for another thread called COMM, else
the comm of who ran."""

import collections
import re
import sys

wanted = sys.argv[1]
head = re.compile(r"^\s*(?P<comm>.*?)\s+(?P<tid>\d+)\s+\[\d+\]\s+(?P<time>\d+\.\d+):\s+sched:(?P<what>\w+):(?P<rest>.*)")
leader = None
since = None
total = 0.0
wakers = collections.Counter()

for line in sys.stdin:
    m = head.match(line)
    if not m:
        continue
    when = float(m["time"]) * 1e6
    if m["what"] == "sched_switch":
        gone = re.search(r"prev_comm=(.*) prev_pid=(\d+) .*prev_state=(\S+)", m["rest"])
        if not gone or gone[1] != wanted:
            continue
        leader = leader or int(gone[2])
        if int(gone[2]) == leader and gone[3] == "S":
            since = when
    elif m["what"] == "sched_waking" and since is not None:
        woken = re.search(r"\bpid=(\d+)", m["rest"])
        if woken and int(woken[1]) == leader:
            total += when - since
            other = m["comm"] == wanted and int(m["tid"]) != leader
            wakers["thread" if other else m["comm"]] += when - since
            since = None
print("%.0f" % total)
for waker, took in wakers.most_common():
    print("%.0f %s" % (took, waker))
