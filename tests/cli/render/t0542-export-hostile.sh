#!/bin/bash
# Names are input: whatever they hold, an export stays well-formed and says nothing else.
. "${0%/*}/../lib.sh"
python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
read_export() {
    "$python" -B "$ROOT/tests/cli/export_read.py" "$@"
}
kinds='folded pprof otlp speedscope d3 grafana firefox chrome callgrind massif text csv'

# Names that mean something to some format, each a leaf with a count of its own.
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
    run_expect_status 0 "$kind" "$FLAME" render -f "$kind" -o "x.$kind" in
    is_str "$(cat err)" '' 'nothing to say'
    [ "$kind" = pprof ] || [ "$kind" = otlp ] || ok 'no control characters' \
        "$python" -c 'import sys; sys.exit(any(b < 32 and b != 10 or b == 127 for b in
            open(sys.argv[1], "rb").read()))' <(if [ "$kind" = folded ]; then true; else cat "x.$kind"; fi)
    case $kind in
    folded | callgrind | massif | text | csv | chrome) ;;
    *)
        read_export "$kind" "x.$kind" >back
        is_int "$(awk '{ n += $NF } END { print n }' back)" $total 'well-formed; no count is lost'
        is_int "$(wc -l <back)" "$lines" 'and no name'
        ;;
    esac
done
for kind in callgrind csv; do
    read_export $kind x.$kind | grep -v '^\[all\] 0 ' >back
    is_int "$(awk '{ n += $(NF - 1) } END { print n }' back)" $total "$kind: no count is lost"
done
if command -v go >/dev/null; then
    run_expect_status 0 'pprof takes it' env HOME="$SCRATCH" GO111MODULE=off go tool pprof -top x.pprof
    file_has out "Showing nodes accounting for .* of $total total" 'whole'
fi
if command -v callgrind_annotate >/dev/null; then
    run_expect_status 0 'callgrind_annotate takes it' callgrind_annotate --auto=no x.callgrind
    unlike "$(cat err)" 'malformed' 'every line'
fi
ok 'trace events: JSON' "$python" -m json.tool x.chrome
run "$FLAME" collapse x.chrome
is_int "$(awk '{ n += $NF } END { print n }' out)" $total 'with all counts'
run "$FLAME" collapse x.massif
is_int "$(awk '{ n += $NF } END { print n }' out)" $total 'massif, with all counts'
is_str "$(cat err)" '' 'every line understood'
run "$FLAME" render -f folded x.folded
ok 'folded comes out as it went in' cmp out x.folded
rtl=$(printf '\xe2\x80\xae')
for kind in pprof csv callgrind massif; do
    if [ $kind = pprof ]; then gzip -dc x.pprof >text; else cp x.$kind text; fi
    file_lacks text "$rtl" "$kind: nothing turns the text around"
done
file_lacks x.csv "^\"[=+@-]" 'no cell begins like a formula'
for name in "'=cmd" "'\+1\+2" "'-\[NSObject" "'@SUM"; do
    file_has x.csv "^\"$name" "but with an apostrophe: $name"
done
is_int "$("$python" -c 'import csv, sys; print(len(list(csv.reader(open(sys.argv[1], newline="")))))' x.csv)" \
    $((lines + 2)) 'csv: one row a symbol'

# Titles are input as well.
for kind in $kinds; do
    "$FLAME" render -f "$kind" -o "t.$kind" --title "$(printf 'a"\n</script>\\\xff')" \
        --subtitle "$(printf 'x\ny')" --countname "$(printf 'q"\nr')" --notes "$(printf '"\n')" in
    case $kind in
    d3 | grafana | firefox | speedscope | chrome)
        ok "$kind: a hostile title" "$python" -m json.tool "t.$kind"
        ;;
    pprof) ok "$kind: a hostile title" read_export pprof t.pprof ;;
    otlp)
        ok "$kind: a hostile title" read_export otlp t.otlp
        is_str "$(read_export otlp_facts t.otlp)" 'resource process.executable.name=x y
profile q__r q" r' "$kind: names and units are one line each"
        ;;
    *) is_int "$(grep -c '^[xr]\|^y$\|^</script' "t.$kind")" 0 "$kind: a hostile title is one line" ;;
    esac
done

# Deep, long, and nothing.
awk 'BEGIN { for (i = 0; i < 300000; i++) printf "f%d;", i % 7; print "leaf 5" }' >deep
awk 'BEGIN { s = "r"; for (i = 0; i < 3000; i++) { s = s ";x"; print s ";y 1" } }' >comb
head -c 1000000 /dev/zero | tr '\0' 'x' | sed 's/$/;y 3\n/' >long
for kind in $kinds; do
    run_expect_status 0 "$kind: 300,000 frames deep" timeout 60 "$FLAME" render -f "$kind" -o x."$kind" deep
    if [ "$kind" = massif ]; then
        file_has err 'massif: of stacks deeper than 1024 frames' 'says what is left out'
    else
        is_str "$(cat err)" '' 'nothing to say'
    fi
    [ "$(wc -c <x."$kind")" -lt 100000000 ]
    is_int $? 0 'not out of proportion'
    run_expect_status 0 'branches all the way down' timeout 60 "$FLAME" render -f "$kind" -o x."$kind" comb
    [ "$(wc -c <x."$kind")" -lt 100000000 ]
    is_int $? 0 'not out of proportion'
    run_expect_status 0 'a name of a megabyte' timeout 60 "$FLAME" render -f "$kind" -o x."$kind" long
    echo 'a 0' >zero
    run_expect_status 2 'every count 0' "$FLAME" render -f "$kind" -o zero."$kind" zero
    ok 'is no file' test ! -e zero."$kind"
    if [ -w /dev/full ]; then
        run_expect_status 1 'a full disk' "$FLAME" render -f "$kind" -o /dev/full comb
        is_int "$(wc -l <err | tr -d ' ')" "$([ "$kind" = massif ] && echo 2 || echo 1)" 'is said'
    fi
done

done_testing
