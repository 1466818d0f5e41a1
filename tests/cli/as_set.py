#!/usr/bin/python3
"""as_set.py FILE.flame...: makes a file of several traces the files that it stands for, FILE.flame, FILE.2.flame
and so on, as recordings were before. Other files stay as they are."""

import struct
import sys

for path in sys.argv[1:]:
    data = bytearray(open(path, 'rb').read())
    (traces,) = struct.unpack_from('<I', data, 788)
    if traces < 2:
        continue
    at = len(data) - (16 + 16 * traces + 1023) // 1024 * 1024
    assert data[at:at + 8] == b'FLAMELST', path
    struct.pack_into('<I', data, 788, 0)
    for i in range(traces):
        begin, size = struct.unpack_from('<QQ', data, at + 16 + 16 * i)
        name = path if i == 0 else '%s.%d.flame' % (path[:-len('.flame')], i + 1)
        with open(name, 'wb') as out:
            out.write(data[begin:begin + size])
