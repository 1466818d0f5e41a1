# shellcheck shell=bash
# noperf.py, beside a test's other files: runs a command for which perf_event_open fails with EPERM, as
# in a container with a seccomp filter.
cat >noperf.py <<'END'
import ctypes, os, struct, sys
# seccomp: perf_event_open (298 on x86-64) fails with EPERM.
prog = [(0x20, 0, 0, 0), (0x15, 0, 1, 298), (6, 0, 0, 0x50001), (6, 0, 0, 0x7fff0000)]
code = b''.join(struct.pack('HBBI', *i) for i in prog)
buf = ctypes.create_string_buffer(code)
fprog = struct.pack('HxxxxxxQ', len(prog), ctypes.addressof(buf))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, fprog, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
END
