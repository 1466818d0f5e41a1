#!/bin/bash
# bpftrace -f json: the same as the text form of the same maps, which the test writes from it.
. "${0%/*}/../lib.sh"
sample=$ROOT/tests/corpus/bpftracejson/sched
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

cat >text.py <<'END_PYTHON'
import json, sys
for line in open(sys.argv[1]):
    if not line.strip():
        continue
    line = json.loads(line)
    if line["type"] != "map":
        continue
    for name, values in line["data"].items():
        if isinstance(values, dict):
            for key, n in values.items():
                print("%s[%s]: %d" % (name, key, n))
END_PYTHON
"$python" -B text.py "$sample" >text
run_expect_status 0 "bpftrace's JSON: collapse succeeds" "$FLAME" collapse "$sample"
is_str "$(cat err)" '' "bpftrace's JSON: nothing on standard error"
"$FLAME" collapse text >want
ok "bpftrace's JSON gives the stacks of its text" cmp out want
ok "bpftrace's JSON has stacks" test "$(wc -l <out)" -gt 20
ok "bpftrace's JSON: a command is at the root of two stacks" \
    grep -qxF 'two, words;cpu_startup_entry+37;schedule_idle+30;__schedule+1576;schedule_idle+30;__schedule+1576 2' out

printf '%s\n' '{"type": "attached_probes", "data": {"probes": 1}}' '' '{"type": "map", "data": {"@a": {"\n    f;g+1\n    \u0007h\n,77": 3, "": 5, "x": "y"}, "@b": 4, "@c": {"k": 1.5}}}' \
    '{"type": "hist", "data": {"@": [{"min": 1, "count": 3}]}}' '{"type": "map", "data": {"@a": {"\n    f' 'Lost 3 events' >x
run_expect_status 0 "bpftrace's JSON: collapse of all kinds of lines succeeds" "$FLAME" collapse x
is_str "$(cat out)" "$(printf '%s\n' '77; h;f:g+1 3' 'k 1.5')" "bpftrace's JSON: all kinds of lines are read"
like "$(cat err)" '2 lines were not understood, the first is line 5: ' \
    "bpftrace's JSON: broken lines are reported"
printf '{"type": "attached_probes", "data": {"probes": 1}}\n' >x
run_expect_status 0 "bpftrace's JSON without a map: collapse succeeds" "$FLAME" collapse x
like "$(cat err)" 'the profile is empty' "bpftrace's JSON without a map is an empty profile"

done_testing
