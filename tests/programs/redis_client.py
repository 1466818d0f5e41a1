"""redis_client.py PORT STOPFILE: asks a server without pause until STOPFILE is there,
and checks every reply: what it counts must be what it asked for, in order. Prints how
many replies there were. Ends with status 1 at the first that is wrong or late."""

import os
import socket
import sys
import threading

port, stop = int(sys.argv[1]), sys.argv[2]
total = 0
failed = []


def ask(number):
    global total
    key = b"counter:%d" % number
    request = b"*2\r\n$4\r\nINCR\r\n$%d\r\n%s\r\n" % (len(key), key)
    s = socket.create_connection(("127.0.0.1", port), timeout=20)
    f = s.makefile("rb")
    count = 0
    try:
        while not failed and (count % 50 or not os.path.exists(stop)):
            s.sendall(request)
            count += 1
            line = f.readline()
            if line != b":%d\r\n" % count:
                failed.append("connection %d: reply %d is %r" % (number, count, line))
    except OSError as e:
        failed.append("connection %d: after %d replies: %s" % (number, count, e))
    total += count


threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(total)
if failed:
    sys.exit("\n".join(failed))
