#!/bin/bash
# -p attaches to a process, --pid puts ids into names, and not all commands have both: a user who takes one
# for the other, or gives a name instead of a number, gets the right option in the message.
. "${0%/*}/../lib.sh"

# says STATUS-2 LINE COMMAND...: exactly one line, which matches, and nothing else happens.
says() {
    local line=$1
    shift
    run_expect_status 2 "flame $* ends with status 2" "$FLAME" "$@"
    is_int "$(wc -l <err)" 1 "flame $* prints one line"
    file_has err "^flame: $line" "flame $* says what to use"
}

for command in mem off run; do
    says "$command: --pid 4711: --pid puts process ids into names; to attach say -p 4711\$" "$command" --pid 4711
    says "$command: --pid=4711: --pid puts process ids into names; to attach say -p 4711\$" "$command" --pid=4711
done
says "leak: -p: there is no such option here: .*use 'flame mem -p PID( --view leak)?'" leak -p 4711
says "leak: --attach: there is no such option here: .*use 'flame mem -p PID( --view leak)?'" leak --attach=4711 true
says "leak: --pid 4711: --pid puts .*; to attach say 'flame mem -p PID' or 'flame off -p PID'\$" leak --pid 4711
says "leak: --pid=4711: --pid puts .*use 'flame mem -p PID( --view leak)?'" leak --pid=4711 true
for command in mem run live; do
    says "$command: -p redis-server: expected a process id, as 123; 'pgrep redis-server' lists those of a program\$" \
        "$command" -p redis-server
    for wrong in 0 -1 12x 99999999999999999999 '' 'a;b'; do
        says "$command: -p $wrong: expected a process id, as 123\$" "$command" -p "$wrong"
    done
done
says "off: -p redis-server: expected process ids, as 123 or 123,456; 'pgrep redis-server' lists those of a program\$" \
    off -p redis-server
says 'off: -p 12,x: expected process ids, as 123 or 123,456$' off -p 12,x
says "watch: redis-server: neither a process id nor a trace that is there; 'pgrep NAME' lists the ids of a program\$" \
    watch redis-server
says 'fold: -p: unknown option; ' fold -p 12
run_expect_status 0 'flame mem --pid before a command succeeds' "$FLAME" mem -q --pid -o x.folded true

done_testing
