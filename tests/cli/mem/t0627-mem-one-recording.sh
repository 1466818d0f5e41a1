#!/bin/bash
# A recording is one file, however many programs the command ran, each with its own trace there. Recordings of
# several files, as they were before, are one unit as well: the name of the first selects all of them, in each
# command that reads traces.
. "${0%/*}/../lib.sh"

python=$(command -v /usr/bin/python3 || command -v python3) || skip_all python3 'no python3'
compile_victim keeper
compile_victim leakers -O0 -pthread

# Like pyenv's: a script that runs helpers and then becomes the program.
cat >shim <<'END'
#!/bin/bash
for i in 1 2 3; do : "$(cat /dev/null | sed s/a/b/)"; done
exec ./keeper keep:1234567 "$@"
END
chmod +x shim
sum() { name=$1 awk '!/^#/ && index($0, ENVIRON["name"]) { s += $NF } END { printf "%.0f\n", s }'; }

# ---- one file ----

run_expect_status 0 'flame mem of a program behind a shim succeeds' "$FLAME" mem -o app.flame -- ./shim
is_str "$(find . -name 'app*.flame')" ./app.flame 'a recording of several programs is one file'
files=$(traces_in app.flame | wc -l)
file_has err "^flame: $files programs in app.flame; see them with 'flame render --view alloc -o x.svg app.flame'$" \
    'the summary has the number of programs and the file'
run_expect_status 0 'flame fold of one file succeeds' "$FLAME" fold app.flame
is_int "$(sum keep_block <out)" 1234567 "flame fold of one file has the program's bytes"
cp out all
mkdir elsewhere
mv app.flame elsewhere/sent.flame
run "$FLAME" fold elsewhere/sent.flame
ok 'flame fold of the file in another directory is the same' cmp out all
is_str "$(cat err)" '' 'flame fold of the file in another directory prints nothing'
run_expect_status 0 'flame mem --no-names of several programs succeeds' "$FLAME" mem -q --no-names -o app.flame -- ./shim
is_str "$(find . -maxdepth 1 -name 'app*.flame')" ./app.flame 'a recording with --no-names is one file'
run_expect_status 0 'flame leak -o of several programs succeeds' "$FLAME" leak -q -o app.flame -- ./shim
ok 'a recording of flame leak is one file' test "$(traces_in app.flame | wc -l)" -gt 1
run_expect_status 0 'flame run -o of several programs succeeds' "$FLAME" run -q -o both.flame -- ./shim
is_str "$(find . -name 'both*' | sort | xargs)" ./both.flame \
    'a recording of flame run is one file of memory and waiting'
run_expect_status 0 'flame mem -o to a pipe succeeds' bash -c \
    'mkfifo pipe.flame; cat pipe.flame >sent.flame & "$0" mem -q -o pipe.flame -- ./shim; wait' "$FLAME"
ok 'what is written to a pipe is the file' test "$(traces_in sent.flame | wc -l)" -gt 1
"$FLAME" fold sent.flame >out
is_int "$(sum keep_block <out)" 1234567 "what is written to a pipe has the program's bytes"

# A file that may not be as long as all traces together: each is a file then.
rm -f app*.flame
size=$(wc -c <elsewhere/sent.flame)
run_expect_status 0 'flame mem with a file size limit succeeds' \
    bash -c 'ulimit -f $(($2 / 1024 * 3 / 4)); exec "$0" mem -o "$1" -- ./shim' "$FLAME" app.flame "$size"
files=$(find . -maxdepth 1 -name 'app*.flame' | wc -l)
ok 'with a file size limit each trace is a file' test "$files" -gt 1
file_has err "^flame: app.flame: $files traces are too large for one file here, so each becomes a file$" \
    'with a file size limit a line says so'
file_has err "[0-9]+ programs, a trace each: app.flame to app.$files.flame; 'flame render .* app.flame' takes all of them" \
    "with a file size limit the summary says that the first trace's name selects all"
run "$FLAME" fold app.flame
is_int "$(sum keep_block <out)" 1234567 "traces of a file each have the program's bytes"

# ---- several files ----

apart() { # FILE.flame OPTION...: the command is ./shim
    rm -f "${1%.flame}"*.flame
    "$FLAME" mem -q "${@:2}" -o "$1" -- ./shim
    "$python" -B "$ROOT/tests/cli/as_set.py" "$1"
}
apart app.flame
files=$(find . -maxdepth 1 -name 'app*.flame' | wc -l)
run "$FLAME" top -n 3 app.flame
file_has out '^ *1\.18 MiB .* keep_block$' 'flame top of the first trace shows the program'
run "$FLAME" fold app.flame
is_int "$(sum keep_block <out)" 1234567 "flame fold of the first trace has the program's bytes"
is_str "$(grep -v '^#' out | cut -d ';' -f 1 | sort -u | tr '\n' ' ')" 'cat keeper sed shim ' \
    'flame fold of the first trace: each process has its root'
cp out all
run "$FLAME" fold app*.flame
is_str "$(cat out)" "$(cat all)" 'flame fold of all traces equals that of the first'
run "$FLAME" fold app.3.flame app.flame ./app.2.flame
is_str "$(cat out)" "$(cat all)" 'flame fold of traces in any order equals that of the first'
run_expect_status 0 'flame render of the first trace succeeds' "$FLAME" render -f folded -o r.folded app.flame
is_int "$(sum keep_block <r.folded)" 1234567 "flame render of the first trace has the program's bytes"
last=$(for f in app.*.flame; do
    [ "$("$FLAME" fold "$f" 2>/dev/null | sum keep_block)" = 0 ] || echo "$f"
done)
like "$last" '^app\.[0-9]+\.flame$' 'a later trace, named alone, is read alone'
"$FLAME" mem -q -o more.flame -- ./shim keep:1000
"$FLAME" diff app.flame more.flame >both
is_str "$(awk '/keep_block/ { a += $(NF - 1); b += $NF } END { print a, b }' both)" '1234567 1235567' \
    'flame diff of two first traces compares all'
"$FLAME" diff app.flame "$last" >both
is_str "$(awk '/keep_block/ { a += $(NF - 1); b += $NF } END { print a, b }' both)" '0 1234567' \
    'flame diff of two traces of one recording compares these alone'
"$FLAME" fold --ancestors --view live app.flame >ancestors
file_has ancestors '^shim;keeper;|^keeper;' 'fold --ancestors of the first trace has all ancestors'

# Views that some files have and others have not.
"$FLAME" mem -q --view leak -o look.flame -- sh -c './keeper hold:77 signal:9; exec ./leakers fork:1' 2>/dev/null
run_expect_status 0 'render of a view that some processes have succeeds' \
    "$FLAME" render --view leak -f folded -o r.folded look.flame
is_int "$(sum child_leaks <r.folded)" 300 'render of a view that some processes have shows those'
run "$FLAME" mem -q --view fault -o fault.flame -- ./keeper keep:100
if [ "$status" = 0 ]; then
    run_expect_status 0 'top --view fault of the first trace succeeds' "$FLAME" top --view fault fault.flame
    file_has out '\[minor fault\]$' 'top --view fault of the first trace shows page faults'
    run_expect_status 2 'top of a view that no process has ends with status 2' \
        "$FLAME" top --view leak fault.flame
    is_int "$(grep -c 'recorded without a look for leaks' err)" 1 \
        'top of a view that no process has says so once'
else
    skip python-perf 'page faults may not be asked for'
fi

# A file that is missing, and one of an earlier run of that name.
mkdir moved
cp app.flame "$last" moved
run_expect_status 0 'fold of a recording with missing traces succeeds' "$FLAME" fold moved/app.flame
file_has err "moved/app.flame: $((files - 2)) of the $files files of this recording are not beside it \\(.*\\.\\.\\.\\)" \
    'fold of a recording with missing traces says so'
is_int "$(sum keep_block <out)" 1234567 'fold of a recording with missing traces has the others'
"$FLAME" mem -q -o app.flame -- ./shim
"$python" -B "$ROOT/tests/cli/as_set.py" app.flame
for f in moved/*; do cp "$f" .; done
run "$FLAME" fold app.flame
file_has err 'of this recording are not beside it' 'fold does not use traces of another run'
apart app.flame
"$FLAME" mem -q -o app.flame -- sh -c './keeper keep:5; exit 0'
run "$FLAME" fold app.flame
is_int "$(sum keep_block <out)" 5 'fold does not use traces that an earlier run left'
is_str "$(cat err)" '' 'fold beside traces of an earlier run prints nothing'

# flame pack leaves it, --no-names has it, too; one program has one file and no number.
apart app.flame --no-names
"$FLAME" pack -q app.flame
run "$FLAME" fold app.flame
is_int "$(sum keep_block <out)" 1234567 "flame fold after --no-names and flame pack has the program's bytes"
"$FLAME" mem -q -o one.flame -- ./keeper keep:5
cp one.flame one.2.flame
run "$FLAME" fold one.flame
is_int "$(sum keep_block <out)" 5 'a recording of one program is one file'

# The number of files in a trace may be any number.
apart app.flame
"$python" -B -c 'import struct
d = bytearray(open("app.flame", "rb").read())
at = d.rfind(struct.pack("<II", 41, 24)) + 8
assert at > 8 and struct.unpack_from("<I", d, at + 16)[0] == 0
struct.pack_into("<I", d, at + 20, 0xffffffff)
open("app.flame", "wb").write(d)'
run_expect_status 0 'fold of a trace that names four billion files succeeds' "$FLAME" fold app.flame
is_int "$(sum keep_block <out)" 1234567 "fold of a trace that names four billion files has the program's bytes"
file_has err '4[0-9]{9} of the 4294967295 files of this recording' \
    'fold of a trace that names four billion files counts the missing'

done_testing
