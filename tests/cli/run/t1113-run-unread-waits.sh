#!/bin/bash
# A trace of waiting that cannot be read is named in one line and left out: all else is drawn, the
# status is the command's, and a file that is damaged stays where the line says.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

compile_victim keeper
use_own_tmpdir

left() { find "$TMPDIR" -mindepth 1 | wc -l; }
kept() { sed -n 's/.*; it is kept as \([^,]*\), remove it afterwards$/\1/p' err; }
clean() { rm -rf "$TMPDIR"/flame-*; }

# ruin HOW STATUS: a command that does that to the trace of waiting, and ends with STATUS.
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
    is_int "$status" 5 "$how: the exit status is the command's"
    is_int "$(grep -c 'the waits are left out, as their trace cannot be read: ' err)" 1 "$how: one line says what is missing"
    file_has x.html keep_block "$how: all else is drawn"
    file_lacks x.html '"name":"chain"' "$how: without views of waiting"
    file_has x.folded 'keep_block' "$how: in the other outputs as well"
    like "$("$FLAME" fold --view alloc x.flame x.[0-9]*.flame)" keep_block "$how: the traces of memory are there"
    not_ok "$how: and that of waiting is not" test -e x.off.flame
    file_lacks err 'the trace of waiting is in|: traced for' "$how: nor told to be"
    if [ $how = byte ]; then
        ok "$how: the file is where the line says" test -f "$(kept)"
        is_int "$(left)" 2 "$how: and nothing else stays"
    else
        is_int "$(left)" 0 "$how: nothing stays"
    fi
    clean
done

run "$FLAME" run -q -o x.html --view off -- sh ./ruin byte 0
is_int "$status" 0 'a page that was to show waits first has the others'
file_has x.html keep_block 'that is, of memory'
is_int "$(wc -l <err)" 1 '-q: the line is said all the same'
clean
rm -f x.*
run "$FLAME" run -q -o x.svg --view off -- sh ./ruin byte 0
is_int "$status" 1 'where waits alone were asked for there is no result'
not_ok 'and no picture' test -e x.svg
ok 'the traces are kept' test "$(left)" -gt 1
clean
: >x.off.flame
run "$FLAME" run -q -o x.flame -- sh ./ruin byte 0
is_int "$status" 0 'traces: those of memory are enough'
not_ok 'an older trace of waiting is gone' test -e x.off.flame
clean
run env FLAMEMEM_OPTIONS=record=0 "$FLAME" run -q -o x.html -- sh ./ruin byte 0
is_int "$status" 1 'without any trace there is no result'
file_has err 'left no recording of memory' 'for both reasons'
clean

# ---- flame off: there is nothing else ----

for how in byte gone pipe folder link; do
    rm -f x.*
    run timeout 60 "$FLAME" off -o x.html -- sh ./ruin $how 0
    is_int "$status" 1 "flame off, $how: there is no result"
    file_has err '^flame: sh: left no recording: its trace cannot be read: ' "flame off, $how: for that reason"
    is_int "$(wc -l <err)" 1 "flame off, $how: in one line"
    not_ok "flame off, $how: no page is written" test -e x.html
    [ $how != byte ] || ok 'flame off: the file is where the line says' test -f "$(kept)"
    clean
done
run "$FLAME" off -o x.html -- sh ./ruin byte 7
is_int "$status" 7 'flame off: the command'\''s own status comes first'
clean

done_testing
