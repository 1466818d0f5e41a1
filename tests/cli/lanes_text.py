#!/usr/bin/env python3
"""lanes_text.py NAMES [ZERO]: folded text with waits in time order (flame-folded(5)), of any names.

Each line of NAMES is the name of a thread, of its process and of the call it waits in. Thread i
waits 1 ms, from (i + 1) ms on, and the thread before it wakes it: that of line i - 1. The recording
began at 5 s of the clock. With ZERO there are moments of memory, of a recording that began at that
nanosecond: 1000 bytes live at once, and 500 bytes less 10 us later.
"""

import base64
import sys


def pack(numbers):
    out = bytearray()
    for v in numbers:
        while v >= 128:
            out.append(v & 127 | 128)
            v >>= 7
        out.append(v)
    return base64.b64encode(bytes(out)).decode()


with open(sys.argv[1], "rb") as f:
    names = [line.rstrip(b"\n") for line in f]
write = sys.stdout.buffer.write
write(b"# flame: view=off unit=us\n")
for name in names:
    write(b"app;main;" + name.replace(b";", b":") + b" 1000\n")
write(b"# flame: view=offwake unit=us\n")
for i, name in enumerate(names):
    write(b"app;main;" + name.replace(b";", b":") + b";--;waking " + str(i).encode() + b"_[w] 1000\n")
if len(sys.argv) > 2:
    write(b"# moments: axis n=2 zero=%s us=%s live=%s mapped=%s rss=%s\n" %
          tuple(pack(v).encode() for v in ([int(sys.argv[2])], [0, 20], [2000, 999], [0, 0], [8, 0])))
write(b"# lanes: begin rows=%d threads=%d short=0 window=0 lost=0 zero=5000000000\n" % (len(names), len(names)))
for i, name in enumerate(names):
    packed = pack(name).encode()
    write(b"# lanes: thread pid=%d tid=%d uses=1 wall=9 cpu=9 runq=0 name=%s title=%s\n" %
          (i + 1, i + 1, packed, packed))
write(b"# lanes: rows thread=%s kind=%s waker=%s\n" %
      tuple(pack(v).encode() for v in (range(len(names)), [1] * len(names), range(len(names)))))
for i, name in enumerate(names):
    row = pack([2 * i]).encode()
    write(b"# lanes: in off app;main;" + name.replace(b";", b":") + b" rows=" + row + b"\n")
    write(b"# lanes: in offwake app;main;" + name.replace(b";", b":") + b";--;waking " +
          str(i).encode() + b"_[w] rows=" + row + b"\n")
# A share of the time from the beginning to the end, in which the thread lives, and the wait.
for i in range(len(names)):
    write(b"# lanes: waits thread=%d n=2 data=%s\n" %
          (i, pack([i << 2 | 2, 0, len(names) * 1000000 + 3000000, 0, 0, 1, 1,
                    i << 2, (i + 1) * 1000000, 1000000, 0, 1000]).encode()))
