#!/bin/bash
# The traces of a recording in one file: flame pack makes it of files, and each command reads it like them.
. "${0%/*}/../lib.sh"

python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
compile_victim keeper
compile_victim family

# One program forks, so that the child's blocks have stacks in the parent's trace; the others are executed.
mkdir set one
record() { # FILE.flame OPTION...
    "$FLAME" mem -q "${@:2}" -o "$1" -- sh -c './keeper keep:1234567; ./family 40 4 1; ./keeper keep:1000; exit 0' 2>/dev/null
    "$python" -B "$ROOT/tests/cli/as_set.py" "$1"
}
record set/app.flame
mapfile -t set < <(ls -v set/app.flame set/app.*.flame)
files=${#set[@]}
ok 'the recording of the test has several files' test "$files" -gt 3
run_expect_status 0 'flame pack of the first file with -o succeeds' "$FLAME" pack -o one/app.flame set/app.flame
file_has err "^flame: one/app.flame: $files traces$" 'flame pack reports the number of traces'
file_has err '^flame: one/app.flame: names for [0-9]+ of [0-9]+ addresses in [0-9]+ files$' \
    'flame pack reports the names of all traces'
ok 'flame pack of all files makes the same file' \
    cmp <("$FLAME" pack -q -o one/b.flame "${set[@]}" && tail -c 1024 one/b.flame) \
    <(tail -c 1024 one/app.flame)

# ---- each command ----

mkdir -p moved
cp one/app.flame moved/mail.bin
same() { # NAME COMMAND...: its output and messages for the set, the file, and the file elsewhere
    "$FLAME" "${@:2}" set/app.flame >want 2>want.err
    "$FLAME" "${@:2}" moved/mail.bin >got 2>got.err
    ok "$1 of one file equals that of the files" cmp want got
    is_str "$(sed 's|moved/mail.bin|set/app.flame|g' got.err)" "$(cat want.err)" \
        "$1 of one file has the messages of the files"
}
for view in alloc live peak count temp; do same "fold --view $view" fold --view $view; done
same 'fold --pid --tid --lines' fold --pid --tid --lines --view live
same 'fold --ancestors' fold --ancestors --view live
same 'fold with a filter' fold --grep keep_block
same 'render' render -f folded
same 'render with a filter' render -f folded --grep keep_block
same 'top' top -n 30
same 'diff' diff set/app.flame
"$FLAME" diff set/app.flame moved/mail.bin >same.folded
is_str "$(awk '!/^#/ && $(NF - 1) != $NF' same.folded)" '' 'diff of the files and of one file has no change'
file_has got '1234567|keep_block' 'the file has the bytes of the program'
(mv set gone) # inherited stacks come from the file
"$FLAME" fold --view live moved/mail.bin >got 2>got.err
file_lacks got '\[inherited\]' 'stacks from before a fork are found in the file'
is_str "$(cat got.err)" '' 'fold of one file without the others prints nothing'
(mv gone set)

run_expect_status 0 'render --series of the file succeeds' "$FLAME" render --series -o x.html one/app.flame set/app.2.flame
file_has err "^flame: one/app.flame: has $files traces, and a series shows the first of them; give it what 'flame fold' makes of the file$" \
    'render --series of the file says that it shows the first trace'

# ---- one trace of it ----

for n in 2 "$files"; do
    "$FLAME" fold "set/app.$n.flame" 2>/dev/null >want
    "$FLAME" fold "one/app.flame/$n" 2>/dev/null >got
    ok "fold of trace $n in the file equals that of its file" cmp want got
    "$FLAME" dump -s thread "set/app.$n.flame" >want
    "$FLAME" dump -s thread "one/app.flame/$n" >got
    ok "dump of trace $n in the file equals that of its file" cmp want got
done
for n in $(seq "$files"); do
    "$FLAME" fold --ancestors "one/app.flame/$n" >"ancestors.$n" 2>/dev/null
done
"$FLAME" fold ancestors.* >got
"$FLAME" fold --ancestors one/app.flame >want
file_has want '^sh;keeper;' 'fold --ancestors of the file has ancestors'
ok 'fold --ancestors of each trace finds ancestors in the others' cmp want got
run_expect_status 0 'dump of the file succeeds' "$FLAME" dump -s header one/app.flame
file_has err "^flame: one/app.flame: has $files traces, of which this is the first; 'flame dump one/app.flame/2' prints the second$" \
    'dump of the file says that it prints the first of several traces'
file_has out " traces=$files( |$)" 'dump has the number of traces'
"$FLAME" diff one/app.flame/1 one/app.flame/2 >got 2>/dev/null
"$FLAME" diff set/app.flame set/app.2.flame >want 2>/dev/null
ok 'diff of two traces in the file compares these alone' cmp want got
run_expect_status 2 'fold of a trace beyond the last ends with status 2' "$FLAME" fold "one/app.flame/$((files + 1))"
is_str "$(cat err)" "flame: one/app.flame/$((files + 1)): cannot read: the file has traces 1 to $files; name one of them, or the file" \
    'fold of a trace beyond the last says which there are'
for command in fold render dump top; do
    run_expect_status 2 "$command of a trace 0 ends with status 2" "$FLAME" "$command" one/app.flame/0
    is_str "$(cat err)" "flame: one/app.flame/0: cannot read: the file has traces 1 to $files; name one of them, or the file" \
        "$command of a trace 0 says which there are"
done
run_expect_status 2 'fold of the first trace of a file with one ends with status 2' "$FLAME" fold set/app.flame/1
is_str "$(cat err)" 'flame: set/app.flame/1: cannot read: the file has one trace; name the file' \
    'fold of the first trace of a file with one says so'
run_expect_status 0 'flame pack takes a trace out of the file' "$FLAME" pack -q -o out.flame one/app.flame/1
run "$FLAME" fold out.flame
is_str "$(cat err)" '' 'a trace that was taken out misses no files'
"$FLAME" fold one/app.flame/1 >want
ok 'a trace that was taken out is the same' cmp want out
run_expect_status 2 'flame pack does not replace a trace in a file' "$FLAME" pack one/app.flame/1
file_has err 'app.flame/1: one of the traces of a file; give the file, or -o$' 'flame pack says what to give instead'

# A gate that has not seen all of a recording does not pass.
head -c $(($(wc -c <one/app.flame) - 4096)) one/app.flame >cut.flame
for pair in 'one/app.flame cut.flame' 'cut.flame one/app.flame'; do
    # shellcheck disable=SC2086 # two words
    run "$FLAME" diff -o compared --fail-above 1000% $pair
    is_int "$status" 24 "diff --fail-above $pair: half a recording does not pass"
    file_has err 'could not be read, so not all was checked' "diff --fail-above $pair: says so"
done
run_expect_status 0 'diff --fail-above of whole recordings passes' \
    "$FLAME" diff -o compared --fail-above 1000% one/app.flame one/app.flame

# ---- packing it ----

"$FLAME" fold --view live one/app.flame >want
cp one/app.flame again.flame
ln -s again.flame link.flame
run_expect_status 0 'flame pack of the file succeeds' "$FLAME" pack link.flame
ok 'flame pack replaces the file and not the link' test -L link.flame
file_has err "link.flame: $files traces$" 'flame pack of the file keeps all traces'
"$FLAME" fold --view live again.flame >got
ok 'the file is the same after flame pack' cmp want got
is_int "$(wc -c <again.flame)" "$(wc -c <one/app.flame)" 'the file does not grow by flame pack'
record more.flame
more=$(find . -maxdepth 1 -name 'more*.flame' | wc -l)
"$FLAME" pack -q -o more.all.flame more.flame
run_expect_status 0 'flame pack of two recordings succeeds' "$FLAME" pack -o two.flame one/app.flame more.all.flame
file_has err "two.flame: $((files + more)) traces$" 'flame pack of two recordings has the traces of both'
"$FLAME" fold --view live one/app.flame more.flame >want
"$FLAME" fold --view live two.flame >got
ok 'a file of two recordings is their sum' cmp want got
printf 'x' >full.txt
run "$FLAME" pack -o /dev/full one/app.flame
is_int "$status" 1 'flame pack of the file on a full disk ends with status 1'

# ---- not by its name ----

"$FLAME" fold one/app.flame/1 >want 2>/dev/null
run_expect_status 0 'fold of the file from a pipe succeeds' "$FLAME" fold - < <(cat one/app.flame)
ok 'fold of the file from a pipe has the first trace' cmp want out
file_has err "^flame: standard input: has $files traces, and only the first is read; all of them are read from a file$" \
    'fold of the file from a pipe says so'
run_expect_status 0 'fold of the file from a named pipe succeeds' "$FLAME" fold <(cat one/app.flame)
ok 'fold of the file from a named pipe has the first trace' cmp want out
"$FLAME" fold --view live one/app.flame >want
run_expect_status 0 'fold of the file as standard input succeeds' "$FLAME" fold --view live - <one/app.flame
ok 'fold of the file as standard input has all traces' cmp want out
gzip -k one/app.flame
run_expect_status 0 'fold of the compressed file succeeds' "$FLAME" fold --view live one/app.flame.gz
ok 'fold of the compressed file has all traces' cmp want out
is_str "$(cat err)" '' 'fold of the compressed file prints nothing'
"$FLAME" dump one/app.flame >want 2>/dev/null
run_expect_status 0 'dump of the compressed file succeeds' "$FLAME" dump one/app.flame.gz
ok 'dump of the compressed file has the first trace' cmp want out
file_has err "^flame: one/app.flame.gz: has $files traces, of which this is the first; 'flame dump one/app.flame.gz/2' prints the second$" \
    'dump of the compressed file says that it prints the first of several traces'
"$FLAME" dump one/app.flame/2 >want
run_expect_status 0 'dump of a trace in the compressed file succeeds' "$FLAME" dump one/app.flame.gz/2
ok 'dump of a trace in the compressed file has that trace' cmp want out
run_expect_status 2 'dump of a trace beyond the last of the compressed file ends with status 2' \
    "$FLAME" dump "one/app.flame.gz/$((files + 1))"
is_str "$(cat err)" "flame: one/app.flame.gz/$((files + 1)): cannot read: No such file or directory" \
    'dump of a trace beyond the last of the compressed file says so'
"$FLAME" fold --view live one/app.flame >want
run_expect_status 0 'render of the compressed file succeeds' "$FLAME" render --view live -f folded one/app.flame.gz
"$FLAME" render --view live -f folded one/app.flame >want
ok 'render of the compressed file has all traces' cmp want out
head -c -100 one/app.flame.gz >short.flame.gz
run_expect_status 2 'fold of a compressed file that is cut ends with status 2' "$FLAME" fold short.flame.gz
is_int "$(wc -l <err)" 1 'fold of a compressed file that is cut prints one line'
ok 'an old reader finds the first trace, and the number of files' "$python" -B -c '
import struct, sys
d = open("one/app.flame", "rb").read()
units = struct.unpack_from("<I", d, 28)[0] * 1024
at = d.find(struct.pack("<II", 41, 24)) + 8
assert 8 < at < units and struct.unpack_from("<II", d, at + 16) == (0, '"$files"')'

# ---- to no file ----

"$FLAME" pack -o - one/app.flame 2>err | cat >through.flame
is_int "${PIPESTATUS[0]}" 0 'flame pack -o - succeeds'
is_str "$(cat err)" '' 'flame pack -o - reports no names, as it cannot read its output'
"$FLAME" fold one/app.flame >want
"$FLAME" fold through.flame >got
ok 'flame pack -o - writes all traces' cmp want got

# Standard input may be a file in which something else comes first.
"$FLAME" mem -q -o big.flame -- "$python" -c 'import json, subprocess' 2>/dev/null
ok 'a trace is longer than a buffer' test "$(wc -c <big.flame)" -gt 262144
{ head -c 4096 /dev/zero && cat big.flame; } >behind
run_expect_status 0 'fold of what is behind in standard input succeeds' \
    bash -c 'dd bs=4096 count=1 of=/dev/null status=none; exec "$0" fold -' "$FLAME" <behind
cp out got
"$FLAME" fold big.flame >want 2>/dev/null
ok 'fold of what is behind in standard input equals that of the file' cmp want got

# ---- damaged ----

spoil() { # PYTHON: d, the file, at, its list, and place(i), an offset there
    "$python" -B -c 'import struct
d = bytearray(open("one/app.flame", "rb").read())
n = struct.unpack_from("<I", d, 788)[0]
at = len(d) - (16 + 16 * n + 1023) // 1024 * 1024
def place(i): return at + 16 + 16 * i
def begin(i): return struct.unpack_from("<Q", d, place(i))[0]
'"$1"'
open("bad.flame", "wb").write(d)'
}
"$FLAME" pack -q -o two-less.flame one/app.flame/1 $(seq -f 'one/app.flame/%.0f' 3 "$files")
"$FLAME" fold two-less.flame >want
spoil 'struct.pack_into("<I", d, begin(1) + 16, 77)'
run_expect_status 0 'fold with a damaged trace succeeds' "$FLAME" fold bad.flame
ok 'fold with a damaged trace has the others' cmp want out
file_has err '^flame: bad.flame/2: left out, as it cannot be read: damaged at byte 16: no byte order is 0x0000004d$' \
    'fold with a damaged trace names it'
is_int "$(wc -l <err)" 1 'fold with a damaged trace prints one line'
"$FLAME" render -f folded two-less.flame >want
run_expect_status 0 'render with a damaged trace succeeds' "$FLAME" render -f folded bad.flame
ok 'render with a damaged trace has the others' cmp want out
file_has err 'bad.flame/2: left out' 'render with a damaged trace names it'
run_expect_status 2 'fold of a damaged trace alone ends with status 2' "$FLAME" fold bad.flame/2
run_expect_status 2 'flame pack of a file with a damaged trace ends with status 2' "$FLAME" pack -o x.flame bad.flame
file_has err 'bad.flame/2: damaged' 'flame pack of a file with a damaged trace names it'
not_ok 'flame pack of a file with a damaged trace writes nothing' test -e x.flame
spoil 'struct.pack_into("<Q", d, place(2) + 8, 1 << 60)'
run_expect_status 0 'fold with a damaged place succeeds' "$FLAME" fold bad.flame
file_has err 'bad.flame/3: left out, as it cannot be read: its place in the file is damaged, or the file is cut$' \
    'fold with a damaged place names it'
spoil 'd = d[:-1]'
run_expect_status 0 'fold of a cut file succeeds' "$FLAME" fold bad.flame
file_has err "^flame: bad.flame: the list of its $files traces is damaged, or the file is cut, so only the first is shown; copy it again$" \
    'fold of a cut file says what is missing'
run_expect_status 2 'flame pack of a cut file ends with status 2' "$FLAME" pack bad.flame
spoil 'for i in range(n): struct.pack_into("<I", d, begin(i) + 16, 77)'
run_expect_status 2 'fold of damaged traces only ends with status 2' "$FLAME" fold bad.flame
run_expect_status 2 'render of damaged traces only ends with status 2' "$FLAME" render -o x.svg bad.flame
not_ok 'render of damaged traces only writes nothing' test -e x.svg

done_testing
