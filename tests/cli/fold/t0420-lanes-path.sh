#!/bin/bash
# A page's critical path: pieces of threads, in sequence, which together are as long as the
# path. The longest is that of the thread that had the work to do.
. "${0%/*}/../lib.sh"

compile_victim endings -pthread
run_expect_status 0 'flame off of endings killed succeeds' "$FLAME" off -q -o t.flame -- ./endings killed
"$FLAME" fold --view critical t.flame >path
"$FLAME" render -o page.html t.flame 2>err

python3 - page.html path >got <<'PY'
import base64, json, re, sys

page = open(sys.argv[1], encoding="utf-8").read()
packed = json.loads(re.search(r'"path":(\[.*\]),\n"regions"', page).group(1))
threads = json.loads(re.search(r'"lanes":.*?"threads":(\[.*?\]),\n"thread"', page, re.S).group(1))
numbers, value, shift = [], 0, 0
for byte in base64.b64decode(packed[0][1]):
    value |= (byte & 127) << shift
    shift += 7
    if byte < 128:
        numbers.append(value)
        value = shift = 0
pieces = [numbers[i:i + 3] for i in range(0, len(numbers), 3)]
text = open(sys.argv[2], encoding="utf-8").read()
length = int(re.search(r"# critical: path length=(\d+)", text).group(1))
tid = re.search(r"# critical: thread ns=\d+ tid=(\d+)", text).group(1)
longest = max(pieces, key=lambda p: p[2])
print("paths", len(packed))
print("length", "same" if sum(p[2] for p in pieces) == length else f"{pieces} and not {length}")
print("gaps", sum(p[1] for p in pieces[1:]))
print("longest", "same" if str(threads[longest[0]]["tid"]) == tid else f"{longest} and not {tid}")
PY
is_str "$(cat got)" "paths 1
length same
gaps 0
longest same" "the page's pieces are the critical path"
run_expect_status 0 'render --view off -o off.html succeeds' "$FLAME" render --view off -o off.html t.flame
file_lacks off.html '"path":\[\[' 'the page of --view off has no critical path'

done_testing
