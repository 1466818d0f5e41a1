#!/bin/bash
# Names are input: with any characters, an export stays well-formed and has the same counts.
. "${0%/*}/../lib.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
read_export() {
    "$python" -B "$ROOT/tests/cli/export_read.py" "$@"
}
kinds='folded pprof otlp speedscope d3 grafana firefox chrome callgrind massif text csv'

# Names with special characters of some format, each a leaf with its own count.
cat >names <<'E2'
"quoted" \backslash\
</script><!--&amp;
=cmd|' /C calc'!A0
+1+2
-[NSObject init]
@SUM(A1)
a,b,"c"
fn=(1) main
calls=1 0x
(12) number
# comment
n0: 4000 0x1: main (x.c:5)
time=7
#-----------
{"name":"x"},
%s%n
name (file.c:12)
op c:\dir\file.c:3
std::map<int, std::vector<a::b> >::operator[](int&&)
ns::x:12
_[k]
???
all
[all]
E2
printf '%b\n' 'esc\033[31mred' 'tab\tin' 'cr\rin' 'bad\xff\xfe\x80utf' 'c1\xc2\x85control' \
    'rtl\xe2\x80\xaemark' 'long\xf0\x9f\x94\xa5emoji' 'half\xed\xa0\x80surrogate' 'nul\x00in' >>names
awk '{ print "m;" $0 " " NR }' names >in
lines=$(wc -l <in)
total=$((lines * (lines + 1) / 2))
for kind in $kinds; do
    run_expect_status 0 "render -f $kind of hostile names succeeds" "$FLAME" render -f "$kind" -o "x.$kind" in
    is_str "$(cat err)" '' "render -f $kind of hostile names prints nothing on standard error"
    [ "$kind" = pprof ] || [ "$kind" = otlp ] || ok "$kind of hostile names has no control characters" \
        "$python" -c 'import sys; sys.exit(any(b < 32 and b != 10 or b == 127 for b in
            open(sys.argv[1], "rb").read()))' <(if [ "$kind" = folded ]; then true; else cat "x.$kind"; fi)
    case $kind in
    folded | callgrind | massif | text | csv | chrome) ;;
    *)
        read_export "$kind" "x.$kind" >back
        is_int "$(awk '{ n += $NF } END { print n }' back)" $total \
            "$kind of hostile names is well-formed and has all counts"
        is_int "$(wc -l <back)" "$lines" "$kind of hostile names has all names"
        ;;
    esac
done
for kind in callgrind csv; do
    read_export $kind x.$kind | grep -v '^\[all\] 0 ' >back
    is_int "$(awk '{ n += $(NF - 1) } END { print n }' back)" $total "$kind of hostile names has all counts"
done
if command -v go >/dev/null; then
    run_expect_status 0 'go tool pprof reads hostile names' \
        env HOME="$SCRATCH" GO111MODULE=off go tool pprof -top x.pprof
    file_has out "Showing nodes accounting for .* of $total total" \
        'go tool pprof has all counts of hostile names'
fi
if command -v callgrind_annotate >/dev/null; then
    run_expect_status 0 'callgrind_annotate reads hostile names' callgrind_annotate --auto=no x.callgrind
    unlike "$(cat err)" 'malformed' 'callgrind_annotate rejects no line of hostile names'
fi
ok 'trace events of hostile names are JSON' "$python" -m json.tool x.chrome
run "$FLAME" collapse x.chrome
is_int "$(awk '{ n += $NF } END { print n }' out)" $total 'trace events of hostile names have all counts'
run "$FLAME" collapse x.massif
is_int "$(awk '{ n += $NF } END { print n }' out)" $total 'massif of hostile names has all counts'
is_str "$(cat err)" '' 'collapse of massif with hostile names rejects no line'
run "$FLAME" render -f folded x.folded
ok 'folded hostile names are unchanged' cmp out x.folded
rtl=$(printf '\xe2\x80\xae')
for kind in pprof csv callgrind massif; do
    if [ $kind = pprof ]; then gzip -dc x.pprof >text; else cp x.$kind text; fi
    file_lacks text "$rtl" "$kind of hostile names has no raw direction mark"
done
file_lacks x.csv "^\"[=+@-]" 'csv has no cell that begins like a formula'
for name in "'=cmd" "'\+1\+2" "'-\[NSObject" "'@SUM"; do
    file_has x.csv "^\"$name" "csv has an apostrophe before a formula: $name"
done
is_int "$("$python" -c 'import csv, sys; print(len(list(csv.reader(open(sys.argv[1], newline="")))))' x.csv)" \
    $((lines + 2)) 'csv has one row a symbol'

# Titles are input as well.
for kind in $kinds; do
    "$FLAME" render -f "$kind" -o "t.$kind" --title "$(printf 'a"\n</script>\\\xff')" \
        --subtitle "$(printf 'x\ny')" --countname "$(printf 'q"\nr')" --notes "$(printf '"\n')" in
    case $kind in
    d3 | grafana | firefox | speedscope | chrome)
        ok "$kind with a hostile title is JSON" "$python" -m json.tool "t.$kind"
        ;;
    pprof) ok "$kind with a hostile title is well-formed" read_export pprof t.pprof ;;
    otlp)
        ok "$kind with a hostile title is well-formed" read_export otlp t.otlp
        is_str "$(read_export otlp_facts t.otlp)" 'resource process.executable.name=x y
profile q__r q" r' "$kind with a hostile title has one line for each name and unit"
        ;;
    *) is_int "$(grep -c '^[xr]\|^y$\|^</script' "t.$kind")" 0 \
        "$kind with a hostile title has one line for it" ;;
    esac
done

# Deep stacks, long names, and zero counts.
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "f%d;", i % 7; print "leaf 5" }' >deep
awk 'BEGIN { s = "r"; for (i = 0; i < 3000; i++) { s = s ";x"; print s ";y 1" } }' >comb
head -c 1000000 /dev/zero | tr '\0' 'x' | sed 's/$/;y 3\n/' >long
for kind in $kinds; do
    run_expect_status 0 "render -f $kind of 300,000 frames succeeds" \
        timeout 60 "$FLAME" render -f "$kind" -o x."$kind" deep
    if [ "$kind" = massif ]; then
        file_has err 'massif: of stacks deeper than 1024 frames' \
            'massif of 300,000 frames says what it leaves out'
    else
        is_str "$(cat err)" '' "render -f $kind of 300,000 frames prints nothing on standard error"
    fi
    [ "$(wc -c <x."$kind")" -lt 100000000 ]
    is_int $? 0 "render -f $kind of 300,000 frames is below 100 MB"
    run_expect_status 0 "render -f $kind of branches at each depth succeeds" \
        timeout 60 "$FLAME" render -f "$kind" -o x."$kind" comb
    [ "$(wc -c <x."$kind")" -lt 100000000 ]
    is_int $? 0 "render -f $kind of branches at each depth is below 100 MB"
    run_expect_status 0 "render -f $kind of a name of a megabyte succeeds" \
        timeout 60 "$FLAME" render -f "$kind" -o x."$kind" long
    echo 'a 0' >zero
    run_expect_status 2 "render -f $kind of a zero count ends with status 2" \
        "$FLAME" render -f "$kind" -o zero."$kind" zero
    ok "render -f $kind of a zero count writes no file" test ! -e zero."$kind"
    if [ -w /dev/full ]; then
        run_expect_status 1 "render -f $kind on a full disk ends with status 1" \
            "$FLAME" render -f "$kind" -o /dev/full comb
        is_int "$(wc -l <err | tr -d ' ')" "$([ "$kind" = massif ] && echo 2 || echo 1)" \
            "render -f $kind on a full disk says so"
    fi
done

done_testing
