#!/bin/bash
# callgrind's profiles: each function's own cost is that of another reader, callers are only
# those that are certain, and damage has its line.
. "${0%/*}/../lib.sh"
samples=$ROOT/tests/corpus/callgrind
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'

# Sums by name, of the nth event.
cat >read.py <<'END'
import collections, gzip, re, sys
path, event = sys.argv[1], int(sys.argv[2])
names, sums, width, skip, current = {}, collections.Counter(), 1, False, None
for line in (gzip.open if path.endswith("gz") else open)(path, "rt"):
    m = re.match(r"c?fn=(?:\((\d+)\))? ?(.*)", line)
    if line.startswith("positions:"):
        width = len(line.split()) - 1
    elif m:
        name = m[2] or names[m[1]]
        names[m[1]] = name
        if line[0] == "f":
            current = name
    elif re.match(r"calls=|jump=|jcnd=", line):
        skip = True
    elif re.match(r"[0-9+*-]", line):
        costs = [int(x) for x in line.split()[width:]] + [0] * 20
        if not skip:
            sums[current] += costs[event]
        skip = False
for name in sorted(sums):
    if sums[name]:
        print(name, sums[name])
END
own() { # sums by the last frame
    sed 's/.*;//' out | awk '{ v = $NF; sub(/ [^ ]*$/, ""); s[$0] += v } END { for (n in s) printf "%s %.0f\n", n, s[n] }' |
        LC_ALL=C sort
}
for what in named.gz:Ir:0 simulated:Ir:0 simulated:Dw:2 flame:samples:0; do
    IFS=: read -r file event column <<<"$what"
    "$python" -B read.py "$samples/$file" "$column" | LC_ALL=C sort >want
    run_expect_status 0 "callgrind $file, $event: collapse succeeds" \
        "$FLAME" collapse --type "$event" "$samples/$file"
    own >got
    ok "callgrind $file, $event: own costs of another reader" cmp got want
    ok "callgrind $file, $event: there are stacks" test "$(wc -l <got)" -gt 1
    is_str "$(cat err)" '' "callgrind $file, $event: nothing on standard error"
done
"$FLAME" collapse "$samples/named.gz" >out
file_has out ';main;rec;rec.2;mid 260$' 'callgrind: certain callers are in the stack'
file_has out '^\[several callers\];leaf 70440$' 'callgrind: uncertain callers are [several callers]'
"$FLAME" collapse --modules "$samples/named.gz" >out
file_has out ';t`main;t`rec ' 'callgrind: --modules'
run_expect_status 0 'callgrind: collapse of several events succeeds' "$FLAME" collapse "$samples/simulated"
like "$(cat err)" 'several kinds of values; Ir is counted, --type picks another \(Dr, Dw,' \
    'callgrind: of several events one is counted, and the others are named'
ok 'guessed without its first line' cmp <(tail -n +2 "$samples/simulated" | "$FLAME" collapse - 2>/dev/null) out
run_expect_status 0 'callgrind: collapse of a cycle of calls succeeds' \
    "$FLAME" collapse --type Ir "$samples/ring"
is_str "$(cat out)" "$(printf 'a;b 7\nb;a 5')" 'callgrind: a cycle of calls ends'

# Two parts, whose events are in another order; costs that are left out are 0.
printf '%s\n' 'events: A B' 'fl=x.c' 'fn=f' '1 2 3' '+1 1' '' 'part: 2' 'events: B A' 'fn=f' '* 10 20' 'fn=f;g 1' '1 0 4' \
    'cfn=f' 'calls=1 1' '1 9 9' >x
is_str "$("$FLAME" collapse --type B x)" 'f:g_1;f 13' 'callgrind: parts are summed'
is_str "$("$FLAME" collapse --type A x)" "$(printf 'f:g_1 4\nf:g_1;f 23')" \
    'callgrind: parts with another order of events are summed'
awk 'BEGIN { print "events: A"; for (i = 0; i < 3000; i++) printf "fn=(%d) f%d\n1 1\ncfn=(%d) f%d\ncalls=1 1\n1 1\n", i, i, i + 1, i + 1 }' >x
run_expect_status 0 'callgrind: collapse of a chain of 3000 calls succeeds' "$FLAME" collapse x
is_int "$(grep -c '^\[more callers\];f[0-9]*;' out)" 1976 'callgrind: a chain of 3000 calls is cut at 1024'

refused() { # REGEX NAME LINE...
    printf '%s\n' "${@:3}" >x
    run_expect_status 2 "callgrind error, $2: status 2" "$FLAME" collapse --from callgrind x
    like "$(cat err)" "^flame: x: cannot read: .*$1" "callgrind error, $2: the message"
    ok "callgrind error, $2: one line, no output" test ! -s out -a "$(wc -l <err)" = 1
}
refused 'line 2 .*number without the name' 'a name that is not there' 'events: A' 'fn=(7)'
refused 'line 2 .*larger than any needed' 'a large number' 'events: A' 'fn=(999999999999) f'
refused 'line 2 .*outside of functions' 'a cost of no function' 'events: A' '1 2'
refused 'line 2 .*before the line .events:' 'a cost of no event' 'fn=f' '1 2'
refused 'line 3 .*without its functions' 'a call of nothing' 'events: A' 'fn=f' 'calls=1 1' '1 1'
refused 'line 4 .*the file is cut' 'cut short' 'events: A' 'fn=f' 'cfn=g' 'calls=1 1'
refused 'line 1 .*names no event' 'no event' 'events:' 'fn=f'
refused 'line 1 .*other positions' 'three positions' 'positions: instr line bb' 'events: A'
printf '%s\n' 'events: A' 'fn=f' '1 1' 'what is this' >x
run_expect_status 0 'callgrind: collapse with a line of another format succeeds' "$FLAME" collapse x
like "$(cat err)" '1 line was not understood, the first is line 4' \
    'callgrind: a line of another format is reported'

done_testing
