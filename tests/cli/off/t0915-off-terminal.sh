#!/bin/bash
# At a terminal flame off prints that tracing has begun and how to end it; elsewhere it does not.
. "${0%/*}/../lib.sh"

cat >terminal.py <<'END'
# terminal.py WORD COMMAND...: types Ctrl-C once WORD was printed; prints what there was
import os, pty, sys
pid, tty = pty.fork()
if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])
seen = b""
typed = False
try:
    while True:
        got = os.read(tty, 4096)
        if not got:
            break
        seen += got
        if sys.argv[1].encode() in seen and not typed:
            os.write(tty, b"\003")
            typed = True
except OSError:
    pass
sys.stdout.write(seen.decode().replace("\r", ""))
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END

sleep 60 &
one=$!
sleep 60 &
two=$!
# A program that is still being started does not sleep: there would be nothing to draw.
until_in_call "$one" 230 115 # clock_nanosleep
until_in_call "$two" 230 115

run_expect_status 0 'Ctrl-C ends flame off -p at a terminal with status 0' \
    timeout 60 python3 terminal.py Ctrl-C \
    "$FLAME" off -o x.svg -p "$one"
is_str "$(head -n 1 out)" "flame: tracing sleep, process $one; Ctrl-C ends it and draws" \
    'flame off -p at a terminal says at once that it traces'
ok 'flame off -p draws after Ctrl-C' test -s x.svg
run timeout 60 python3 terminal.py Ctrl-C "$FLAME" off -o x.svg -d 50 -p "$one,$two"
is_str "$(head -n 1 out)" \
    'flame: tracing sleep and others, 2 processes; the time given or Ctrl-C ends it and draws' \
    'flame off -d -p of two processes says at once how it ends'
run timeout 60 python3 terminal.py never "$FLAME" off -q -o x.svg -d 0.2 -p "$one"
is_str "$(cat out)" '' 'flame off -q -p prints nothing at a terminal'
run "$FLAME" off -o x.svg -d 0.2 -p "$one"
file_lacks err 'Ctrl-C' 'flame off -p without a terminal does not mention Ctrl-C'
kill "$one" "$two"
done_testing
