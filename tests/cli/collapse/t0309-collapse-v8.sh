#!/bin/bash
# V8's profiles, as node wrote them: the same sums as a reader of their own gives, and damage with
# its place.
. "${0%/*}/../lib.sh"
samples=$ROOT/tests/corpus/v8profile
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

cat >read.py <<'END'
import json, sys
from collections import defaultdict
p = json.load(open(sys.argv[1]))
sums, stack = defaultdict(int), {}
def name(n):
    f = n["callFrame"]
    url = f["url"].split("/")[-1]
    return f["functionName"] or "(anonymous)" + (" %s:%d" % (url, f["lineNumber"] + 1) if url else "")
def walk(n, above, count, children):
    at = above if n["callFrame"]["functionName"] == "(root)" else above + [name(n)]
    if at:
        sums[";".join(at)] += count(n)
    for c in children(n):
        walk(c, at, count, children)
if "head" in p:
    walk(p["head"], [], lambda n: n["selfSize"], lambda n: n["children"])
else:
    by_id = {n["id"]: n for n in p["nodes"]}
    time = defaultdict(int)
    at = p["startTime"]
    for i, d in enumerate(p["timeDeltas"]):
        at += d
        until = at + p["timeDeltas"][i + 1] if i + 1 < len(p["samples"]) else p["endTime"]
        time[p["samples"][i]] += until - at
    hits = sys.argv[2:] == ["samples"]
    walk(p["nodes"][0], [], lambda n: n["hitCount"] if hits else time[n["id"]],
         lambda n: [by_id[i] for i in n.get("children", [])])
for s in sorted(sums):
    if sums[s]:
        print(s, sums[s])
END
for what in cpuprofile:time cpuprofile:samples heapprofile:bytes; do
    file=$samples/node.${what%:*}
    "$python" -B read.py "$file" "${what#*:}" | sort >want
    run_expect_status 0 "V8 $what: collapse succeeds" "$FLAME" collapse --type "${what#*:}" "$file"
    sort out >got
    ok "V8 $what: the sums of another reader" cmp got want
    ok "V8 $what: there are stacks" test "$(wc -l <got)" -gt 2
    is_str "$(cat err)" '' "V8 $what: nothing on standard error"
done
"$FLAME" collapse --from v8 "$samples/node.cpuprofile" >out 2>err
ok 'V8: time is counted by default' cmp out <("$FLAME" collapse --type time "$samples/node.cpuprofile")
is_str "$(cat err)" '' 'V8: collapse without --type prints nothing on standard error'
"$FLAME" collapse --modules "$samples/node.cpuprofile" >out
file_has out ';cpu.js`outer;cpu.js`inner [0-9]+$' 'V8: --modules'
"$FLAME" collapse --srcline "$samples/node.cpuprofile" >out
file_has out ';outer [^;]*cpu.js:2;inner [^;]*cpu.js:1 [0-9]+$' 'V8: --srcline'
run "$FLAME" collapse "$ROOT/tests/corpus/collapse/chrome"
ok "trace events are not taken for V8's profile" cmp out "$ROOT/tests/corpus/collapse-want/chrome"

frame() { # NAME
    echo "\"callFrame\":{\"functionName\":\"$1\",\"url\":\"file:///a/b.js\",\"lineNumber\":4}"
}
node() { # ID NAME CHILDREN
    echo "{\"id\":$1,$(frame "$2"),\"hitCount\":$1,\"children\":[$3]}"
}
cpu() { # NODES SAMPLES DELTAS
    printf '{"nodes":[\n%s],\n"startTime":100,"samples":[%s],"timeDeltas":[%s],"endTime":200}\n' "$@" >x.json
}
# Deltas below 0, as V8 has them: 105, 103, 110; until 200.
cpu "$(node 1 '(root)' '2,3'),$(node 2 'a;b' ''),$(node 3 '' '')" 2,3,2 5,-2,7
run_expect_status 0 'V8: collapse of samples out of order succeeds' "$FLAME" collapse x.json
is_str "$(cat out)" "$(printf '(anonymous) b.js:5 2\na:b 95')" 'V8: samples out of order are sorted'
cpu "$(node 1 '(root)' 2),$(node 2 f '')" 2,2 1.5,0.25
is_str "$("$FLAME" collapse x.json)" 'f 98.5' 'V8: fractions of microseconds count'
printf '{"head":{%s,"selfSize":0,"children":[{%s,"children":[{"selfSize":7,"children":[],%s}],"selfSize":3}]}}' \
    "$(frame '(root)')" "$(frame f)" "$(frame g)" >x.json
is_str "$("$FLAME" collapse x.json)" "$(printf 'f 3\nf;g 7')" 'V8: members may be in any order'

refused() { # REGEX NAME
    run_expect_status 2 "V8 error, $2: status 2" "$FLAME" collapse x.json
    like "$(cat err)" "^flame: x.json: cannot read: line $1" "V8 error, $2: the message"
    ok "V8 error, $2: one line, no output" test ! -s out -a "$(wc -l <err)" = 1
}
cpu "$(node 1 a 2),$(node 2 b 1)" 2 1
refused '2 \(byte [0-9]+\): a node that is its own ancestor' 'a ring'
cpu "$(node 1 a 3),$(node 2 b 3),$(node 3 c '')" 2 1
refused '2 \(byte [0-9]+\): a node that is the child of two' 'a child of two'
cpu "$(node 1 a 9)" 1 1
refused '2 \(byte [0-9]+\): a child that is no node' 'a child that is not there'
cpu "$(node 1 a ''),$(node 1 b '')" 1 1
refused '2 \(byte [0-9]+\): a second node of the same id' 'one id twice'
cpu "$(node 1 a '')" 7 1
refused '3 \(byte [0-9]+\): a sample of a node' 'a sample of none'
cpu "$(node 1 a '')" 1,1 1
refused '.* has not as many timeDeltas as samples' 'a time that is missing'
cpu "$(node 1 a '')" 1,1 9e99,1
refused '3 \(byte [0-9]+\): a number that is out of all bounds' 'a large number'
head -c 2000 "$samples/node.cpuprofile" >x.json
refused '1 \(byte 2000\): the JSON ends too early' 'cut short'
sed 's/"hitCount":/"hitCount"/' "$samples/node.cpuprofile" >x.json
refused '1 \(byte [0-9]+\): is no JSON of V8' 'no JSON'
awk 'BEGIN { for (i = 0; i < 100000; i++) printf "{\"callFrame\":{\"functionName\":\"f\"},\"head\":{\"children\":["; }' >x.json
run_expect_status 2 'V8: deep JSON without a profile ends with status 2' "$FLAME" collapse --from v8 x.json

# Each node of a chain has a stack of its own, so their frames are as many as the square of the nodes.
awk 'BEGIN { printf "{\"nodes\":["
    for (i = 1; i <= 8000; i++)
        printf "%s{\"id\":%d,\"callFrame\":{\"functionName\":\"f\"},\"hitCount\":1,\"children\":[%s]}", (i > 1 ? "," : ""), i, (i < 8000 ? i + 1 : "")
    printf "]}" }' >x.json
refused '1 \(byte [0-9]+\): stacks of more frames in all than a profile of this size has' 'a chain that fills a memory'

done_testing
