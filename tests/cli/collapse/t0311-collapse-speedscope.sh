#!/bin/bash
# speedscope's JSON: both kinds of profiles in all units, several of them in one file, what flame
# itself writes, and damage with its place.
. "${0%/*}/../lib.sh"
samples=$ROOT/tests/corpus/speedscope
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

cat >read.py <<'END'
import json, sys
from collections import defaultdict
from fractions import Fraction
p = json.load(open(sys.argv[1]), parse_float=Fraction, parse_int=Fraction)
frames = [f["name"] for f in p["shared"]["frames"]]
scale = {"nanoseconds": Fraction(1, 1000), "microseconds": 1, "milliseconds": 1000,
         "seconds": 1000000, "bytes": 1, "none": 1}
sums = defaultdict(Fraction)
for q in p["profiles"]:
    unit, root = scale[q["unit"]], [q["name"]] if len(p["profiles"]) > 1 else []
    def add(stack, value):
        if stack:
            sums[";".join(root + [frames[int(i)] for i in stack])] += value * unit
    if q["type"] == "sampled":
        for stack, weight in zip(q["samples"], q["weights"]):
            add(stack, weight)
    else:
        stack, now = [], q["startValue"]
        for e in q["events"]:
            add(stack, e["at"] - now)
            now = e["at"]
            if e["type"] == "O":
                stack.append(e["frame"])
            else:
                stack.pop()
        add(stack, q["endValue"] - now)
for s in sorted(sums):
    v = sums[s]
    if v:
        assert v * 10**6 == int(v * 10**6)
        whole, part = divmod(int(v * 10**6), 10**6)
        print(s, str(whole) + (".%06d" % part).rstrip("0").rstrip("."))
END
for file in evented flame; do
    "$python" -B read.py "$samples/$file.json" >want
    run_expect_status 0 "speedscope $file: collapse succeeds" "$FLAME" collapse "$samples/$file.json"
    ok "speedscope $file: the sums of another reader" cmp out want
    ok "speedscope $file: there are stacks" test "$(wc -l <out)" -gt 1
    is_str "$(cat err)" '' "speedscope $file: nothing on standard error"
done

printf 'a;b 3\na;b;c 5.25\na;f file.c:7 1\n' >in
"$FLAME" render -f speedscope -o x.json in
is_str "$("$FLAME" collapse x.json)" "$(printf 'a;b 3\na;b;c 5.25\na;f 1')" 'back from flame render'
is_str "$("$FLAME" collapse --srcline x.json)" "$(cat in)" 'speedscope: --srcline'
is_str "$("$FLAME" collapse --modules x.json | tail -1)" 'a;file.c`f 1' 'speedscope: --modules'

profiles() { # PROFILE...
    local IFS=,
    echo "{\"profiles\":[
$*],\"shared\":{\"frames\":[{\"name\":\"a;b\"},{\"name\":\"c\",\"line\":null,\"file\":null}]}}" >x.json
}
sampled() { # NAME UNIT SAMPLES WEIGHTS
    echo "{\"samples\":[$3],\"weights\":[$4],\"name\":\"$1\",\"unit\":\"$2\",\"type\":\"sampled\"}"
}
evented() { # EVENTS
    echo "{\"type\":\"evented\",\"name\":\"e\",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":1000,\"events\":[$1]}"
}
event() { # TYPE FRAME AT
    echo "{\"type\":\"$1\",\"frame\":$2,\"at\":$3}"
}
for unit in nanoseconds:0.002 microseconds:2 milliseconds:2000 seconds:2000000 bytes:2 none:2; do
    profiles "$(sampled x "${unit%:*}" '[0,1],[],[1,0]' 2,5,0)"
    is_str "$("$FLAME" collapse x.json)" "a:b;c ${unit#*:}" "${unit%:*}"
done
profiles "$(sampled s none '[1]' 3)" "$(sampled t bytes '[1]' 4)" "$(sampled u bytes '[1]' 5)"
run_expect_status 0 'speedscope: collapse of several kinds succeeds' "$FLAME" collapse x.json
is_str "$(cat out)" 'c 3' 'speedscope: of several kinds the first counts'
like "$(cat err)" 'several kinds of values; none is counted, --type picks another \(bytes\)' \
    'speedscope: several kinds are reported'
is_str "$("$FLAME" collapse --type bytes x.json)" "$(printf 't;c 4\nu;c 5')" 'speedscope: --type KIND'
is_str "$("$FLAME" collapse --type u x.json)" 'c 5' 'speedscope: --type NAME'
run_expect_status 2 'speedscope: --type with an unknown kind ends with status 2' \
    "$FLAME" collapse --type time x.json
like "$(cat err)" "no values 'time'; it has bytes, none" \
    'speedscope: --type with an unknown kind lists the kinds'
profiles "$(evented "$(event O 0 0.5),$(event O 1 '1e2'),$(event C 1 '2.5E+2')")"
is_str "$("$FLAME" collapse x.json)" "$(printf 'a:b 0.8495\na:b;c 0.15')" \
    'speedscope: frames open at the end last until the end'

refused() { # REGEX NAME
    run_expect_status 2 "speedscope error, $2: status 2" "$FLAME" collapse --from speedscope x.json
    like "$(cat err)" "^flame: x.json: cannot read: line $1" "speedscope error, $2: the message"
    ok "speedscope error, $2: one line, no output" test ! -s out -a "$(wc -l <err)" = 1
}
profiles "$(sampled s none '[2]' 1)"
refused '2 \(byte [0-9]+\): a frame that is not among' 'a frame that is not there'
profiles "$(sampled s none '[-1]' 1)"
refused '2 \(byte [0-9]+\): a frame that is not among' 'a frame below 0'
profiles "$(sampled s none '[1],[1]' 1)"
refused '2 \(byte [0-9]+\): a profile that has not as many weights' 'a weight that is missing'
profiles "$(sampled s none '[1]' 1,2)"
refused '2 \(byte [0-9]+\): a profile that has not as many weights' 'a weight too many'
profiles "$(sampled s none '[1]' -1)"
refused '2 \(byte [0-9]+\): a weight that is less than 0' 'a weight below 0'
profiles "$(sampled s seconds '[1]' 9e20)"
refused '2 \(byte [0-9]+\): a number that is out of all bounds' 'a large weight'
profiles "$(sampled s seconds '[1]' 1e20)"
refused '2 \(byte [0-9]+\): a value that is out of all bounds' 'a weight that is large in its unit'
profiles "$(sampled s hours '[1]' 1)"
refused '2 \(byte [0-9]+\): a unit that speedscope does not have' 'a unit of its own'
profiles "$(evented "$(event O 0 5),$(event C 0 4)")"
refused '2 \(byte [0-9]+\): time that goes backwards' 'time that goes backwards'
profiles "$(evented "$(event O 0 5),$(event O 1 6),$(event C 0 7)")"
refused '2 \(byte [0-9]+\): an event that closes a frame that is not the innermost' 'frames that cross'
profiles "$(evented "$(event C 0 5)")"
refused '2 \(byte [0-9]+\): an event that closes' 'an end without a beginning'
profiles "$(evented "$(event X 0 5)")"
refused '2 \(byte [0-9]+\): an event without type' 'another event'
profiles '{"type":"sampled","unit":"none","name":"x"}'
refused '2 \(byte [0-9]+\): a profile without events' 'a profile of nothing'
head -c 300 "$samples/evented.json" >x.json
refused '3 \(byte 300\): the JSON ends too early' 'cut short'
run_expect_status 2 'collapse of a truncated speedscope file without --from ends with status 2' \
    "$FLAME" collapse x.json

done_testing
