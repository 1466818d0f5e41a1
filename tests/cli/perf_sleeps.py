"""perf_sleeps.py FUNCTION < perf-script-text: how long threads slept (state S, so not in
a tracer's stops) with FUNCTION in their user stack, by the kernel's own events: from
sched_switch away from the thread to the sched_waking that ended it. Prints
`MICROSECONDS` and then, a line each, `MICROSECONDS FUNCTION...`: what the wakers' user
stacks were, leaf first."""

import collections
import re
import sys

wanted = sys.argv[1]
head = re.compile(r"^(?P<comm>.*?)\s+(?P<tid>\d+)\s+\[\d+\]\s+(?P<time>\d+\.\d+):\s+sched:(?P<what>\w+):(?P<rest>.*)")
asleep = {}
total = 0.0
wakers = collections.Counter()


def event(first, frames):
    global total
    m = head.match(first)
    if not m:
        return
    when = float(m["time"]) * 1e6
    if m["what"] == "sched_switch":
        state = re.search(r"prev_pid=(\d+).*prev_state=(\S+)", m["rest"])
        if state and state[2] == "S" and wanted in frames:
            asleep[int(state[1])] = when
    elif m["what"] == "sched_waking":
        pid = re.search(r"\bpid=(\d+)", m["rest"])
        if pid and int(pid[1]) in asleep:
            took = when - asleep.pop(int(pid[1]))
            total += took
            wakers[" ".join(f for f in frames if not f.startswith("__pfx"))] += took


lines = []
for line in sys.stdin:
    line = line.rstrip("\n")
    if line:
        lines.append(line)
        continue
    if lines:
        event(lines[0], [part.split()[1] for part in lines[1:] if len(part.split()) > 1])
    lines = []
if lines:
    event(lines[0], [part.split()[1] for part in lines[1:] if len(part.split()) > 1])
print("%.0f" % total)
for stack, took in wakers.most_common():
    print("%.0f %s" % (took, stack))
