#!/bin/bash
# flame top -p on a terminal: a table of a running process with rates, sorted, searched, with callers.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'
. "$ROOT/tests/cli/terminal.sh"

# 1,000,000 bytes a second by the clock, however late it runs; 30 MB once, at SIGUSR1.
cat >ticker.c <<'END'
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static volatile sig_atomic_t asked;
static void note(int sig) { (void)sig; asked = 1; }
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}
__attribute__((noinline)) void *steady(size_t n) { char *p = malloc(n); memset(p, 1, n); return p; }
__attribute__((noinline)) void *once(size_t n) { return malloc(n); }
__attribute__((noinline)) void *asks_once(void) { void *p = once(30000000); return p; }
__attribute__((noinline)) void naps(void) { nanosleep(&(struct timespec){0, 5000000}, NULL); }
static void *kept;
int main(void)
{
    double begin = now();
    signal(SIGUSR1, note);
    for (double done = 0; now() < begin + 600;) {
        for (; done < (now() - begin) * 100; done++)
            free(steady(10000));
        if (asked && !kept)
            kept = asks_once();
        naps();
    }
    return 0;
}
END
ok 'ticker is built' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -fno-optimize-sibling-calls -o ticker ticker.c

# Between 600 KiB and 1.29 MiB.
rate='([6-9][0-9]{2}(\.[0-9])? KiB|10[0-9]{2}(\.[0-9])? KiB|1(\.[0-2][0-9]?)? MiB)'

term_begin 110 24
./ticker &
victim=$!
type_line "flame top -p $victim --every 0.3; echo status \$?"
sees "^(Memory allocated|Nothing yet): .*ticker $victim|^status" 'flame top -p attaches'
if screen | grep -q '^status'; then
    screen | grep '^flame' >err
    term_end
    kill "$victim"
    skip_all attach "it cannot be attached to here: $(head -n 1 err)"
fi
sees '^ +selfv +self/s +total +total/s +symbol$' 'flame top -p opens with the table, sorted by self'
sees "% +$rate .*% +$rate +steady$" "flame top -p shows bytes per second, not per update"
sees "^ +0   B +0\.00% +0   B .*% +$rate +main$" 'flame top -p shows the rates of callers'
kill -USR1 "$victim"
sees '28\.6[0-9] MiB .* once$' 'flame top -p shows a single large block'
sees ' 0   B +once$' 'the rate of a single block is gone at the next update'
has_row() { # N SYMBOL
    [ "$(screen | sed -n "$((2 + $1))s/.* //p")" = "$2" ]
}
ok 'flame top -p has the largest self first' comes_true has_row 1 once
press s
sees 'self/sv' 's sorts by the rate'
ok 'sorted by the rate, what allocates now comes first' comes_true has_row 1 steady
press S
sees 'selfv' 'S sorts by self again'
type_line '/ONCE'
sees '^ONCE: 2 names, in [0-9.]+% of all' 'flame top -p searches'
sees '^(asks_)?once$' 'the search chooses a match'
press Home
sees '^once$' 'Home chooses the first row'
press Enter
sees '^.asks_once *$' 'Enter shows the callers of the symbol'
sees '^.once *$' 'Enter shows the symbol below its callers'
press -
sees 'selfv' '- goes back to the table'
press q
sees '^status 0$' 'q ends flame top -p with status 0'
ok 'flame top -p leaves the process running' kill -0 "$victim"
is_str "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$victim/status")" 0 'flame top -p leaves the process untraced'

# Another order, view and selection from the beginning.
type_line "clear; flame top -p $victim --every 0.3 -s total-rate -v count --trim-root=steady; echo status \$?"
sees '^Allocation calls: .*view [0-9]+/[0-9]+ count$' 'flame top -p --view opens with that view'
sees 'total/sv' 'flame top -p --sort total-rate sorts by that rate'
sees '^ +[0-9,]+ 100\.00% +[0-9,]+ .* +steady$' 'flame top -p --trim-root shows the frames above'
sees_not ' main$' 'flame top -p --trim-root shows no frame below'
press q
sees '^status 0$' 'q ends flame top -p of a selection with status 0'

# Waits.
for how in -w --stops; do
    type_line clear
    sees_not '^status' 'the screen is clear'
    type_line "flame top $how -p $victim --every 0.3; echo status \$?"
    sees "ticker $victim|^status" "$how: flame top -p attaches"
    if screen | grep -q '^status'; then
        skip ptrace "$how: it cannot be attached to here: $(screen | grep -m 1 '^flame')"
        continue
    fi
    sees '^Off-CPU time: ' "$how: flame top -p shows the waits"
    # It sleeps nearly all of the time.
    sees '% +([4-9][0-9]{2}(\.[0-9])? ms|1(\.[0-9]+)? s) +naps$' \
        "$how: flame top -p shows time per second"
    press q
    sees '^status 0$' "$how: q ends flame top -p with status 0"
    ok "flame top $how -p leaves the process running" kill -0 "$victim"
done
kill "$victim"

type_line 'clear; flame top -p 2147483646; echo status $?'
sees '^flame: top: there is no process 2147483646' 'flame top of an unused process id says so'
sees '^status 2$' 'flame top of an unused process id ends with status 2'
term_end

run_expect_status 2 'flame top -p without a terminal ends with status 2' "$FLAME" top -p $$
is_int "$(grep -c . err)" 1 'flame top -p without a terminal prints one line'
file_has err '^flame: top: .*terminal' 'flame top -p without a terminal says why'
refuses() { # TEXT OPTION...
    local text=$1
    shift
    run_expect_status 2 "flame top $* ends with status 2" "$FLAME" top "$@"
    file_has err "^flame: top: $text" "flame top $* says why"
}
refuses "-p and a file, 'x.flame'; look at one or the other" -p 1 x.flame
refuses '--at is of a finished recording, and -p of one that goes on' -p 1 --at 2s
refuses '--ancestors is of a finished recording' -p 1 --ancestors
refuses '-s p99 is not for -p, which has self, total' -p 1 -s p99
refuses '-s rate is of what is being recorded' -s rate x.flame
refuses '-w is of what is being recorded; give -p PID, or --live TRACE, too' -w
refuses '--every is of what is being recorded; give -p PID, or --live TRACE, too' --every 2
done_testing
