#!/bin/bash
# Round trip of exports: other programs, or readers that share no code with the writers, read back
# every stack and every count.
. "${0%/*}/../lib.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
read_export() {
    "$python" -B "$ROOT/tests/cli/export_read.py" "$@"
}

# Several hundred stacks of any shape, with recursion, and names that begin alike.
awk 'BEGIN { srand(7)
    for (i = 0; i < 600; i++) {
        s = "app"; n = int(rand() * 12)
        for (k = 0; k < n; k++) {
            f = int(rand() * rand() * 14)
            s = s ";" (f % 3 ? "f" f : f % 2 ? "f" f "(int)" : "ns::f <" f ">")
        }
        count[s] += 1 + int(rand() * 100000)
    }
    for (s in count) print s, count[s] }' | LC_ALL=C sort >plain
# The stacks with places and annotations.
sed -E 's/f([0-9])(;| )/f\1 src\/file.c:1\1\2/g; s/f1([0-9])([; ])/f1\1_[k]\2/g
    s/(:12)( [0-9]+)$/\1_[i]\2/' plain | "$FLAME" fold - >placed
ok 'the input has places' grep -q 'f2 src/file.c:12_\[i\] [0-9]' placed
ok 'the input has kernel frames' grep -q '_\[k\]' placed

for input in plain placed; do
    for kind in speedscope d3 grafana firefox pprof otlp; do
        run_expect_status 0 "$kind of $input succeeds" "$FLAME" render -f "$kind" -o "out.$kind" "$input"
        is_str "$(cat err)" '' "$kind of $input prints nothing on standard error"
        read_export "$kind" "out.$kind" >back
        ok "$kind of $input has each stack and count" cmp back "$input"
    done
    "$FLAME" render -f folded -o back "$input"
    ok "folded $input is the same, in the order of sort" cmp back "$input"
    "$FLAME" render -f chrome -o out.trace.json "$input"
    run "$FLAME" collapse out.trace.json
    ok "trace events of $input are read by collapse" cmp out "$input"
done

"$FLAME" render -f massif -o out.massif plain
"$FLAME" collapse out.massif | sed 's/;\[heap\] / /' | LC_ALL=C sort >back
ok 'massif is read by collapse' cmp back plain
"$FLAME" render -f massif -o out.massif placed
"$FLAME" collapse --srcline out.massif | sed -E 's/;\[heap\] / /; s/(_\[i\])? \((src[^)]*)\)/ \2\1/g' |
    LC_ALL=C sort >back
ok 'massif with places is read by collapse' cmp back placed
if command -v ms_print >/dev/null; then
    ok 'ms_print reads massif' ms_print out.massif
    total=$(awk '{ n += $NF } END { print n }' placed)
    like "$(ms_print out.massif | sed 's/,//g')" "^ +1 +1 +$total +$total +0 +0\$" 'ms_print prints the total'
else
    skip valgrind 'no ms_print'
fi

# Tables: own and total counts by symbol; recursion counts a stack once.
read_export sums plain >want
for kind in csv callgrind; do
    run_expect_status 0 "$kind succeeds" "$FLAME" render -f "$kind" -o "out.$kind" plain
    read_export "$kind" "out.$kind" | grep -v '^\[all\] ' >back
    ok "$kind has own and total counts of each symbol" cmp back want
done
read_export sums placed >want
"$FLAME" render -f csv -o out.csv placed
read_export csv out.csv >back
ok 'csv has files and lines' cmp back want
file_has out.csv '^"f2_\[i\]","src/file.c",12,[0-9]+,[0-9]+$' 'csv has files and lines in columns'
"$FLAME" render -f callgrind -o out.callgrind placed
file_has out.callgrind '^(fl|cfi)=\([0-9]+\) src/file\.c$' 'callgrind has files'
is_int "$(awk '/^fn=/ { fn = $0 } /^[0-9]/ && !call { n[fn] = 1 } { call = /^calls=/ }
    END { for (f in n) c++; print c }' out.callgrind)" \
    "$(sed 's/ [0-9]*$//; s/.*;//; s/ src[^_]*//' placed | sort -u | wc -l)" \
    'callgrind has each function once, with any line'
if command -v callgrind_annotate >/dev/null; then
    "$FLAME" render -f callgrind -o out.callgrind plain
    read_export sums plain | sed -E 's/^(.*) [0-9]+ ([0-9]+)$/\2 \1/' | LC_ALL=C sort >want
    callgrind_annotate --inclusive=yes --threshold=100 --auto=no out.callgrind |
        sed -nE 's/^ *([0-9,]+) \([0-9 .]+%\) +[^:]*:(.*)$/\1 \2/p' | grep -v ' \[all\]$' |
        sed -E ':a; s/^([0-9]+),/\1/; ta; s/ +$//' | LC_ALL=C sort >back
    ok 'callgrind_annotate prints the same totals' cmp back want
else
    skip valgrind 'no callgrind_annotate'
fi

if command -v go >/dev/null; then
    export HOME=$SCRATCH GOFLAGS=-mod=mod GO111MODULE=off
    "$FLAME" render -o out.pb.gz plain
    run_expect_status 0 'go tool pprof -raw succeeds' go tool pprof -raw out.pb.gz
    unlike "$(cat err)" 'rror|not available' 'go tool pprof -raw prints no error'
    "$FLAME" collapse --from go out >back
    ok 'go tool pprof -raw has each stack and count' cmp back plain
    run_expect_status 0 'go tool pprof -top succeeds' go tool pprof -top -nodecount=1000 out.pb.gz
    # FLAT and CUM are its own sums; more than five digits would be rounded.
    sed -E 's/ [0-9]+$/ 3/' plain >threes
    "$FLAME" render -o out.pb.gz threes
    go tool pprof -top -nodecount=1000 -nodefraction=0 out.pb.gz 2>/dev/null |
        sed -nE 's/^ *([0-9]+) +[0-9.]+% +[0-9.]+% +([0-9]+) +[0-9.]+%  (.*)$/\3 \1 \2/p' |
        LC_ALL=C sort >back
    read_export sums threes >want
    ok 'go tool pprof -top prints the same sums' cmp back want
else
    skip go 'no go'
fi
if command -v protoc >/dev/null; then
    "$FLAME" render -o out.pb.gz placed
    gzip -dc out.pb.gz | protoc --decode=pprof.Profile --proto_path="$ROOT/render/export" \
        profile.proto >decoded 2>err
    is_str "$(cat err)" '' 'protoc decodes pprof'
    file_has decoded '^string_table: "src/file.c"$' 'decoded pprof has strings'
    file_lacks decoded '^ *[0-9]+:' 'decoded pprof has no unknown field'
else
    skip protoc 'no protoc'
fi

# The tree as text: every frame once, with exact counts.
"$FLAME" render -f text -o out.txt plain
is_int "$(awk 'NR > 2 { gsub(/,/, "", $1); n += $1 } END { print n }' out.txt)" \
    "$(awk '{ n += $NF } END { print n }' plain)" 'text: own counts sum to the total'
sed 's/ [0-9]*$//' plain | awk -F';' '{ s = ""; for (i = 1; i <= NF; i++) { s = s ";" $i; n[s] = 1 } }
    END { for (s in n) c++; print c }' >paths
is_int "$(($(wc -l <out.txt) - 2))" "$(cat paths)" 'text has a line for each frame'

done_testing
