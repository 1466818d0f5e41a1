#!/bin/bash
# flame live -w on a terminal: what a process waits for, without stopping it, and with.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/terminal.sh"

cat >sleeper.c <<'END'
#include <time.h>
#include <unistd.h>
__attribute__((noinline)) static int naps(void) { return usleep(30000); }
int main(void)
{
    for (int i = 0; i < 100000; i++)
        if (naps() != 0)
            return 1;
    return 0;
}
END
ok 'the program that sleeps is built' "${CC:-gcc}" -O0 -g -o sleeper sleeper.c
./sleeper &
victim=$!
term_begin 100 24

# Starts flame live on the victim, on a screen that shows no status of an earlier one.
live() { # OPTION
    type_line clear
    sees_not '^status' 'the screen is clear'
    type_line "flame live $1 -e 0.3 -p $victim; echo status \$?"
}

for how in -w --stops; do
    live "$how"
    sees "sleeper $victim|^status" "$how: flame live attaches"
    if screen | grep -q '^status'; then
        skip ptrace "$how: it cannot be attached to here: $(screen | grep -m 1 '^flame')"
        continue
    fi
    sees '^Off-CPU time: [0-9.]+ m?s' "$how: flame live shows the waits"
    # Not at the line's begin: time outside of calls may stand to its left.
    sees '\bnaps\b' "$how: flame live shows the function that waits"
    press d
    sees '^In the last look: Off-CPU time: [1-9]' "$how: flame live shows the last interval after d"
    press q
    sees '^status 0$' "$how: q ends flame live with status 0"
    ok "flame live $how leaves the process running" kill -0 "$victim"
    is_str "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$victim/status")" 0 \
        "flame live $how leaves the process untraced"
done

# A recorder that dies leaves no result behind: the last picture stays, and the end is shown.
live -w
sees '\bnaps\b|^status' 'flame live shows the waits before its recorder dies'
if ! screen | grep -q '^status'; then
    viewer=$(pgrep -P "$(term_flag pane_pid)" -f "live -w")
    recorder=$(pgrep -P "$viewer" -f "off -q -p $victim")
    ok 'flame live has a recorder process' test -n "$recorder"
    kill -STOP "$recorder"
    kill "$victim"
    kill -KILL "$recorder"
    sees "sleeper $victim has ended" 'flame live whose recorder died shows that the process ended'
    press q
    sees '^status 0$' 'q ends flame live after its recorder died'
else
    skip ptrace "it cannot be attached to here: $(screen | grep -m 1 '^flame')"
fi
kill "$victim" 2>/dev/null
term_end
done_testing
