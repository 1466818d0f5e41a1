#!/bin/bash
# Exports have all that a format has a place for: units, views, both sides of a comparison,
# titles, a note on estimates; fractions; and are chosen by the ending of -o.
. "${0%/*}/../lib.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
read_export() {
    "$python" -B "$ROOT/tests/cli/export_read.py" "$@"
}
field() { # FILE EXPRESSION: of the JSON object d
    "$python" -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$@"
}
decode() {
    gzip -dc "$1" | protoc --decode=pprof.Profile --proto_path="$ROOT/render/export" profile.proto
}
# Strings behind the indices of the string table: NAME.KEY=STRING lines of a decoded profile.
named() {
    decode "$1" | "$python" -c '
import re, sys
text = sys.stdin.read()
strings = re.findall(r"^string_table: (.*)$", text, re.M)
path = []
for line in text.split("\n"):
    if line.endswith("{"):
        path.append(line.strip(" {"))
    elif line.strip() == "}":
        path.pop()
    elif not line.startswith("string_table") and line.strip():
        key, value = line.strip().split(": ")
        if key in ("type", "unit", "comment", "default_sample_type", "filename"):
            value = strings[int(value)].strip("\"")
        print(".".join(path + [key]) + "=" + value)'
}

echo 'a;b 1' >in
for pair in x.svg=svg x.html=html x.folded=folded x.pb.gz=pprof x.pprof=pprof x.otlp=otlp \
    x.speedscope.json=speedscope x.d3.json=d3 x.grafana.json=grafana x.firefox.json=firefox \
    x.trace.json=chrome x.chrome.json=chrome x.callgrind=callgrind callgrind.out.7=callgrind \
    x.massif=massif massif.out.app=massif x.txt=text x.text=text x.csv=csv; do
    "$FLAME" render -o "${pair%%=*}" in
    "$FLAME" render -f "${pair#*=}" -o want in
    ok "render -o ${pair%%=*} writes ${pair#*=}" cmp "${pair%%=*}" want
done
run_expect_status 2 'render -o x.json ends with status 2' "$FLAME" render -o x.json in
is_int "$(wc -l <err)" 1 'render -o x.json prints one line'
file_has err 'x\.json: several formats are JSON.*-f' 'render -o x.json proposes -f'
ok 'render -o x.json writes no file' test ! -e x.json
run_expect_status 0 'render -f d3 -o x.json succeeds' "$FLAME" render -f d3 -o x.json in
run "$FLAME" render --help
for kind in folded pprof otlp speedscope d3 grafana firefox chrome callgrind massif text csv; do
    file_has out "^  $kind " "render --help has $kind"
done
run_expect_status 2 'mem -o x.beige ends with status 2' "$FLAME" mem -o x.beige -- true
for ending in svg pb.gz speedscope.json txt csv folded; do
    file_has err "\.$ending(,|$)" "mem -o x.beige lists .$ending"
done

# Units.
printf '# flame: view=alloc unit=bytes\na;b 3000\na 1\n' >bytes
printf 'a;b 1.5\na;c 2.25\na 10\n' >part
"$FLAME" render -o b.speedscope.json bytes
is_str "$(field b.speedscope.json 'd["profiles"][0]["unit"]')" bytes 'speedscope has the unit bytes'
"$FLAME" render -o b.grafana.json bytes
is_str "$(field b.grafana.json '[f["config"].get("unit") for f in d[0]["schema"]["fields"]]')" \
    "[None, 'bytes', 'bytes', None]" 'Grafana has the unit bytes'
"$FLAME" render -o b.firefox.json bytes
is_str "$(field b.firefox.json 'd["threads"][0]["nativeAllocations"]["weightType"]')" bytes \
    'Firefox has native allocations'
for kind in speedscope grafana firefox; do
    "$FLAME" render -f "$kind" --countname ms -o "part.$kind" part
    read_export "$kind" "part.$kind" >back
    is_str "$(cat back)" 'a 10
a;b 1.5
a;c 2.25' "$kind has fractions"
done
is_str "$(field part.speedscope 'd["profiles"][0]["unit"]')" milliseconds 'speedscope has a unit of time'
is_str "$(field part.firefox 'd["threads"][0]["samples"]["weightType"]')" tracing-ms \
    'Firefox has a unit of time'
"$FLAME" render -f firefox --countname us -o us.firefox part
is_str "$(field us.firefox 'd["threads"][0]["samples"]["weight"]')" '[0.01, 0.0015, 0.00225]' \
    'Firefox has times in milliseconds'
for unit in ns us ms s; do
    "$FLAME" render -f chrome --countname $unit -o x.trace.json part
    field x.trace.json '[(e["ts"], e["dur"]) for e in d["traceEvents"] if e["ph"] == "X"]'
done >out
is_str "$(cat out)" '[(0, 0.01375), (0, 0.0015), (0.0015, 0.00225)]
[(0, 13.75), (0, 1.5), (1.5, 2.25)]
[(0, 13750), (0, 1500), (1500, 2250)]
[(0, 13750000), (0, 1500000), (1500000, 2250000)]' 'Chrome has times in microseconds'
run_expect_status 0 'render -f folded --factor succeeds' "$FLAME" render -f folded --factor 2 part
is_str "$(cat out)" 'a 20
a;b 3
a;c 4.5' 'render -f folded --factor has scaled fractions'
for kind in pprof callgrind massif; do
    run_expect_status 0 "render -f $kind of fractions succeeds" "$FLAME" render -f $kind -o x.$kind part
    is_int "$(grep -c "$kind has whole numbers only" err)" 1 "render -f $kind of fractions says that it rounds"
done
read_export pprof x.pprof >back
is_int "$(awk '{ n += $NF } END { print n }' back)" 14 'pprof of fractions keeps the sum'
run "$FLAME" render -o x.pb.gz --countname ms part
is_str "$(cat err)" '' 'pprof of fractions of time does not round'
read_export pprof x.pb.gz >back
is_str "$(cat back)" 'a 10000000
a;b 1500000
a;c 2250000' 'pprof has fractions of time in nanoseconds'
printf 'a;b 18446744073709551615\na;c 9007199254740993\n' >huge
"$FLAME" render -f folded -o back huge 2>/dev/null
ok 'folded has counts beyond 2^53' cmp back huge
for kind in pprof callgrind; do
    run "$FLAME" render -f $kind huge
    like "$(cat err)" "$kind has signed 64-bit numbers: the sum of" "$kind reports a sum beyond signed 64 bits"
done
printf 'a;c 9007199254740993\n' >huge
"$FLAME" render -o x.pb.gz huge
read_export pprof x.pb.gz >back
file_has back '^a;c 900719925474099[23]$' 'pprof has a count beyond 2^53'
file_has <("$FLAME" render -f speedscope huge) '"weights":\[9007199254740993\]' \
    'speedscope has a count beyond 2^53'

# Title and kind of the profile.
printf '# flame: view=live unit=bytes sample=524288 estimates=yes\na;b 3000\n' >sampled
"$FLAME" render --subtitle app --notes 'nightly 7' -o s.pb.gz sampled
if command -v protoc >/dev/null; then
    named s.pb.gz >out
    file_has out '^comment=Memory live at the end - app .* estimates: sampled every 512\.0 KiB$' \
        'pprof has the title'
    file_has out '^comment=nightly 7$' 'pprof has --notes'
    file_has out '^sample_type\.type=inuse_space$' "pprof has Go's name of a heap profile"
    file_has out '^default_sample_type=inuse_space$' 'pprof shows the heap profile first'
    file_has out '^period_type\.unit=bytes$' 'pprof has the unit of the period'
    file_has out '^period=524288$' 'pprof has the length of the period'
else
    skip protoc 'no protoc'
fi
for kind in speedscope d3 grafana firefox chrome callgrind massif text; do
    "$FLAME" render -f $kind --title 'Some <Title>' --subtitle app -o "s.$kind" sampled
    "$python" -c 'import sys; sys.exit("Some <Title> - app" not in
        open(sys.argv[1], encoding="utf-8").read().replace("\\u003c", "<").replace("\\u003e", ">"))' "s.$kind"
    is_int $? 0 "$kind has title and command"
    grep -q 'estimates: sampled every 512.0 KiB' "s.$kind"
    is_int $? 0 "$kind says that counts are estimates"
done
"$FLAME" render --subtitle app -o s.otlp sampled
read_export otlp_facts s.otlp >facts
file_has facts '^resource process\.executable\.name=app$' 'OTLP has the name of the program'
file_has facts '^profile inuse_space bytes$' "OTLP has Go's name of a heap profile"
file_has facts '^period 524288 space bytes$' 'OTLP has the period'
run "$FLAME" render -f folded sampled
ok 'folded keeps the header' cmp out sampled

# Both sides of a comparison.
printf 'a;b 10 30\na;b;d 40 20\na;gone 25 0\na;new 0 15\n' >changes
awk '{ print $1, $3 }' changes | grep -v ' 0$' >after
awk '{ print $1, $2 }' changes | grep -v ' 0$' >before
for kind in speedscope firefox pprof; do
    "$FLAME" render -f $kind -o "d.$kind" changes
    read_export $kind "d.$kind" 0 >back
    ok "$kind has the counts after" cmp back after
    read_export $kind "d.$kind" 1 >back
    ok "$kind has the counts before" cmp back before
done
read_export pprof d.pprof 2 >back
is_str "$(cat back)" 'a;b 20
a;b;d -20
a;gone -25
a;new 15' 'pprof has the growth of a comparison'
"$FLAME" render -o d.grafana.json changes
read_export grafana d.grafana.json 0 >back
ok 'Grafana has the counts before at the left' cmp back before
read_export grafana d.grafana.json 1 >back
ok 'Grafana has the counts after at the right' cmp back after
"$FLAME" render -f folded -o back changes
ok 'folded has both counts of a comparison' cmp back changes
"$FLAME" render -o d.d3.json changes
is_str "$(field d.d3.json '[(c["name"], c["value"], c["delta"]) for c in d["children"][0]["children"]]')" \
    "[('b', 50, 0), ('gone', 0, -25), ('new', 15, 15)]" 'd3 has the change of a comparison'
"$FLAME" render -o d.csv changes
is_str "$(head -1 d.csv)" 'symbol,file,line,samples_self,samples_total,samples_before_self,samples_before_total' \
    'csv has the columns of a comparison'
file_has d.csv '^"b",,,30,50,10,50$' 'csv has both counts of a comparison'
"$FLAME" render -f callgrind -o d.callgrind changes
for side in 0 1; do
    read_export callgrind d.callgrind $side | grep -v '^\[all\]' >back
    read_export csv d.csv $side >want
    ok "callgrind has side $side of a comparison" cmp back want
done

printf '# flame: view=alloc unit=bytes\na;b 10 30\n' >adiff
"$FLAME" render -f pprof -o a.pprof adiff
if command -v protoc >/dev/null; then
    is_str "$(named a.pprof | sed -n 's/^sample_type\.type=//p' | tr '\n' ' ')" \
        'alloc_space alloc_space_before alloc_space_growth ' 'pprof names the three values of a comparison'
else
    skip protoc 'no protoc'
fi

# A comparison of one view, and another view beside it.
printf '# flame: view=alloc unit=bytes\na;b 10 30\n# flame: view=count unit=calls\na;b 7\na;c 8\n' >mixed
"$FLAME" render -f pprof -o m.pprof mixed
"$FLAME" render -f csv -o m.csv mixed
for part in 0:'a;b 30' 1:'a;b 10' 2:'a;b 7
a;c 8' 3:'a;b 20'; do
    read_export pprof m.pprof "${part%%:*}" >back
    is_str "$(cat back)" "${part#*:}" "pprof of a comparison and a view: value ${part%%:*}"
done
file_has m.csv '^"b",,,30,30,10,10,7,7$' 'csv of a comparison and a view has all columns'

# All views.
printf '# flame: view=alloc unit=bytes\nm;f 3000\nm;g 1000\n# flame: view=count unit=calls\nm;f 3\nm;h 5\n' >views
for kind in speedscope firefox pprof; do
    "$FLAME" render -f $kind -o "v.$kind" views
    read_export $kind "v.$kind" 0 >back
    is_str "$(cat back)" 'm;f 3000
m;g 1000' "$kind has the first view"
    read_export $kind "v.$kind" 1 >back
    is_str "$(cat back)" 'm;f 3
m;h 5' "$kind has the second view"
done
"$FLAME" render -f callgrind -o v.callgrind views
file_has v.callgrind '^events: alloc count$' 'callgrind has views as events'
file_has v.callgrind '^event: count : Allocation calls \(calls\)$' 'callgrind has the titles of events'
file_has v.callgrind '^summary: 4000 8$' 'callgrind has the sums of events'
"$FLAME" render -o v.csv views
file_has v.csv '^"f",,,3000,3000,3,3$' 'csv has columns for each view'
"$FLAME" mem -q -o m.pb.gz -- /bin/ls / >/dev/null
if command -v protoc >/dev/null; then
    is_str "$(named m.pb.gz | sed -n 's/^sample_type\.//p' | tr '\n' ' ')" \
        'type=alloc_space unit=bytes type=alloc_objects unit=count type=inuse_space unit=bytes type=peak_space unit=bytes type=temp_objects unit=count ' \
        'flame mem -o m.pb.gz has all views'
    printf '# flame: view=%s unit=bytes\na;b 5\n' live leak definite peak >leaks.folded
    "$FLAME" render -o leaks.pb.gz leaks.folded
    is_str "$(named leaks.pb.gz | sed -n 's/^sample_type.type=//p' | tr '\n' ' ')" \
        'inuse_space leak definite peak_space ' 'pprof has a different name for each view'
    is_str "$(named m.pb.gz | grep '^mapping.filename' | head -1)" 'mapping.filename=ls' \
        'pprof has the command as its mapping'
else
    skip protoc 'no protoc'
fi
"$FLAME" mem -q --view peak -o m.speedscope.json -- /bin/ls / >/dev/null
is_str "$(field m.speedscope.json '[p["name"] for p in d["profiles"]]')" "['Memory at the peak']" \
    'flame mem --view peak -o m.speedscope.json has that view'
"$FLAME" mem -q -o m.flame -- /bin/ls / >/dev/null
"$FLAME" fold --lines m.flame >want
"$FLAME" render -f pprof -o m.pprof m.flame
read_export pprof m.pprof 0 >back
ok 'pprof of a trace has lines by default' cmp back <(grep -v '^# ' want | LC_ALL=C sort)
"$FLAME" fold m.flame >want
"$FLAME" render -f speedscope -o m.speedscope m.flame
read_export speedscope m.speedscope 0 >back
ok 'speedscope of a trace has no lines by default' cmp back <(grep -v '^# ' want | LC_ALL=C sort)

# Time off the CPU, from its recorder to the profile.
run_expect_status 0 'flame off -o off.pb.gz succeeds' "$FLAME" off -o off.pb.gz -- sleep 0.1
if command -v protoc >/dev/null; then
    like "$(named off.pb.gz | sed -n 's/^sample_type\.//p' | tr '\n' ' ')" \
        '^type=off unit=us type=wakeup unit=us ' 'flame off -o off.pb.gz has all views'
else
    skip protoc 'no protoc'
fi
read_export pprof off.pb.gz 0 >back
file_has back '^sleep;.*nanosleep (9|[0-9]{2})[0-9]{4}$' 'flame off -o off.pb.gz has the wait'
printf 'a;b_[o] 3\na;c_[w] 4\n' >marked
"$FLAME" render -f firefox -o marked.firefox marked
read_export firefox marked.firefox >back
ok 'Firefox has a category for each annotation' cmp back marked

# Merged from the leaf.
printf 'a;b 1\nc;b 2\n' >in
run "$FLAME" render -f folded --reverse in
is_str "$(cat out)" 'b;a 1
b;c 2' 'render -f folded --reverse begins stacks at the leaf'
"$FLAME" render -f massif -o r.massif --reverse in
file_has r.massif '^  n0: 1 0x[0-9A-F]+: b$' 'massif --reverse begins at the root'
printf 'z 1\na 2\nz 3\n' >in
run "$FLAME" render -f folded --flamechart in
is_str "$(cat out)" "$(cat in)" 'render -f folded --flamechart keeps the order'

done_testing
