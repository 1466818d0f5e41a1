#!/bin/bash
# An off-CPU trace that cannot be read is reported in one line and left out: the rest is drawn, the
# status is the command's, and a file that is damaged stays where the line says.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim keeper
use_own_tmpdir

left() { find "$TMPDIR" -mindepth 1 | wc -l; }
kept() { sed -n 's/.*; it is kept as \([^,]*\), remove it afterwards$/\1/p' err; }
other_lines() { grep -v 'trace cannot be read: ' err; }
clean() { rm -rf "$TMPDIR"/flame-*; }

# ruin HOW STATUS: a command that damages the off-CPU trace in that way, and ends with STATUS.
cat >ruin <<'END_RUIN'
file=$(echo "$TMPDIR"/flame-*.*/off.flame)
case $1 in
    byte) printf '\0' | dd of="$file" bs=1 conv=notrunc ;;
    gone) rm "$file" ;;
    pipe) rm "$file" && mkfifo "$file" ;;
    folder) rm "$file" && mkdir "$file" && echo x >"$file/x" ;;
    link) rm "$file" && ln -s /etc/passwd "$file" ;;
    *) exit 99 ;;
esac 2>/dev/null || exit 98
./keeper keep:100
exit "$2"
END_RUIN

for how in byte gone pipe folder link; do
    rm -f x.*
    run timeout 60 "$FLAME" run -o x.html -o x.folded -o x.flame --view count -- sh ./ruin $how 5
    is_int "$status" 5 "off-CPU trace damaged ($how): flame run ends with the command's status"
    is_int "$(grep -c 'the waits are left out, as their trace cannot be read: ' err)" 1 \
        "off-CPU trace damaged ($how): one line says what is missing"
    file_has x.html keep_block "off-CPU trace damaged ($how): the page has the memory"
    file_lacks x.html '"name":"chain"' "off-CPU trace damaged ($how): the page has no view of waits"
    file_has x.folded 'keep_block' "off-CPU trace damaged ($how): the folded text has the memory"
    like "$("$FLAME" fold --view alloc x.flame)" keep_block \
        "off-CPU trace damaged ($how): the traces of memory are written"
    unlike "$("$FLAME" fold --view off x.flame 2>&1)" '^[^:]*;' \
        "off-CPU trace damaged ($how): no off-CPU trace is written"
    file_lacks err 'the trace of waiting is in|: traced for' \
        "off-CPU trace damaged ($how): the summary has no waits"
    if [ $how = byte ]; then
        ok "off-CPU trace damaged ($how): the file is where the line says" test -f "$(kept)"
        is_int "$(left)" 2 "off-CPU trace damaged ($how): no other file is left"
    else
        is_int "$(left)" 0 "off-CPU trace damaged ($how): no file is left"
    fi
    clean
done

run "$FLAME" run -q -o x.html --view off -- sh ./ruin byte 0
is_int "$status" 0 'flame run -o x.html --view off with a damaged off-CPU trace ends with status 0'
file_has x.html keep_block 'flame run -o x.html --view off with a damaged off-CPU trace has the memory'
file_has err 'the waits are left out, as their trace cannot be read: ' \
    'flame run -q reports a damaged off-CPU trace'
is_str "$(other_lines)" '' 'flame run -q beside a damaged off-CPU trace prints no other line'
clean
rm -f x.*
run "$FLAME" run -q -o x.svg --view off -- sh ./ruin byte 0
is_int "$status" 1 'flame run -o x.svg --view off with a damaged off-CPU trace ends with status 1'
not_ok 'flame run -o x.svg --view off with a damaged off-CPU trace writes no picture' test -e x.svg
ok 'flame run -o x.svg --view off with a damaged off-CPU trace keeps the traces' test "$(left)" -gt 1
clean
: >x.off.flame
run "$FLAME" run -q -o x.flame -- sh ./ruin byte 0
is_int "$status" 0 'flame run -o x.flame with a damaged off-CPU trace ends with status 0'
is_str "$(ls x.*)" "$(printf 'x.flame\nx.off.flame')" 'flame run -o x.flame leaves a file beside it alone'
clean
run env FLAMEMEM_OPTIONS=record=0 "$FLAME" run -q -o x.html -- sh ./ruin byte 0
is_int "$status" 1 'flame run without any readable trace ends with status 1'
file_has err 'left no recording of memory' 'flame run without any readable trace says why'
clean

# ---- flame off: there is nothing else ----

for how in byte gone pipe folder link; do
    rm -f x.*
    run timeout 60 "$FLAME" off -o x.html -- sh ./ruin $how 0
    is_int "$status" 1 "flame off with a damaged trace ($how) ends with status 1"
    file_has err '^flame: sh: left no recording: its trace cannot be read: ' \
        "flame off with a damaged trace ($how) says why"
    is_str "$(other_lines)" '' "flame off with a damaged trace ($how) prints no other line"
    not_ok "flame off with a damaged trace ($how) writes no page" test -e x.html
    [ $how != byte ] || ok 'flame off with a damaged trace keeps it where the line says' test -f "$(kept)"
    clean
done
run "$FLAME" off -o x.html -- sh ./ruin byte 7
is_int "$status" 7 "the command's own status precedes that of a damaged trace"
clean

done_testing
