# shellcheck shell=bash
# pagedata.py, beside a test's other files: what an explorer page holds, for scripts that import it. The
# page is their first argument: `data`, the paths of its nodes, and its packed numbers.
cat >pagedata.py <<'END'
import base64, json, re, sys
text = open(sys.argv[1], encoding="utf-8").read()
data = json.loads(re.search(r'<script id="profile"[^>]*>(.*?)</script>', text, re.S)[1])
def numbers(packed):
    v = shift = 0
    for c in base64.b64decode(packed, validate=True):
        v |= (c & 127) << shift
        shift += 7
        if c < 128:
            yield v
            v = shift = 0
def signed(v):
    return (v >> 1) ^ -(v & 1)
frames, paths, depth = numbers(data["frames"]), [()], 0
for up in frames:
    depth += 1 - up
    paths.append(paths[-1][:depth - 1] + (data["names"][next(frames)],))
END
