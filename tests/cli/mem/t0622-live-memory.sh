#!/bin/bash
# flame live on a terminal: memory of a process that runs, by attaching or from its trace, and the
# process afterwards.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"
. "$ROOT/tests/cli/attach.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'
. "$ROOT/tests/cli/terminal.sh"

cat >grower.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
__attribute__((noinline)) void *keeps(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
__attribute__((noinline)) void loses(size_t n) { char *p = malloc(n); memset(p, 1, n); free(p); }
static void *kept[1000];
int main(void)
{
    char line[64];
    int n = 0;
    while (puts("ready"), fflush(stdout), fgets(line, sizeof line, stdin)) {
        if (line[0] == 'k') kept[n++] = keeps(100000);
        if (line[0] == 'l') loses(5000);
        if (line[0] == 'f') free(kept[--n]);
    }
    return 0;
}
END
ok 'a program that allocates when it is told' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -o grower grower.c

start() { # COMMAND...
    rm -f to from
    mkfifo to from
    "$@" <to >from 2>victim.err &
    exec 7>to 8<from
    read -r _ <&8
}
tell_it() { # as often as there are letters
    local i
    for ((i = 0; i < ${#1}; i++)); do
        echo "${1:i:1}" >&7
        read -r _ <&8
    done
}

term_begin 100 24
start ./grower
victim=$!
type_line "flame live -e 0.2 -t -p $victim; echo status \$?"
sees "^(Memory live|Nothing yet): .*grower $victim|^status" 'it is attached to'
if screen | grep -q '^status'; then
    screen | grep '^flame' >err
    term_end
    skip_all attach "it cannot be attached to here: $(head -n 1 err)"
fi
tell_it kkkll
sees '^Memory live: 293.0 KiB, 300,000 bytes; what it allocated before is not known' 'what is live'
sees '293.0 KiB 100.00% .*keeps$' 'and whose'
sees_not 'loses' 'what was freed is not'
press V V
sees '^Memory allocated: 302.7 KiB, 310,000 bytes' 'what was allocated'
sees ' 9.77 KiB +3.23% .*loses$' 'with what was freed'
press v v d
sees '^In the last look: Memory live: 0 bytes' 'since the last look: nothing'
press Space
sees '^In the last look: .*\[paused\]' 'a pause'
tell_it kf
press d
sees '^Memory live: 293.0 KiB' 'shows what was'
press Space
press V V
sees '^Memory allocated: 400.4 KiB, 410,000 bytes' 'and goes on'
press q
sees '^status 0$' 'q ends it'
ok 'the process is there' kill -0 "$victim"
is_str "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$victim/status")" 0 'nobody traces it'
tell_it kflll
test_ok 'and it does what it did'

# Ended by a signal, by its terminal, and by the process.
type_line "clear; flame live -p $victim; echo status \$?"
sees "grower $victim" 'again'
pkill_pid=$(pgrep -f "live -p $victim" -n -P "$(term_flag pane_pid)")
kill -TERM "$pkill_pid"
sees '^status 143$' 'SIGTERM'
is_str "$(ls -d "${TMPDIR:-/tmp}"/flame-live.*/*"$victim"* 2>/dev/null)" '' 'leaves no files'
tell_it kf
ok 'nor a process that is not well' kill -0 "$victim"
type_line "clear; flame live -e 0.2 -p $victim; echo status \$?"
sees "grower $victim" 'again'
exec 7>&-
sees "grower $victim has ended" 'the end of the process is seen'
press q
sees '^status 0$' 'and the last picture stays until q'

# One that is recorded already is not attached to.
start "$FLAME" mem -q -o t.flame -- ./grower
tell_it kkl
recorded=$(pgrep -P $! -x grower)
type_line "clear; flame live -e 0.2 -t -p $recorded; echo status \$?"
sees '200,000 bytes .*keeps|Memory live: .*grower' 'a process that is recorded'
tell_it kk
sees "keeps$" 'from its trace'
is_str "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$recorded/status")" 0 'which nobody attaches to'
press q
sees '^status 0$' 'the end'
exec 7>&-
wait "$!"
is_int "$?" 0 'its recording is whole'
is_int "$("$FLAME" fold --view live --no-header t.flame | grep 'keeps' | awk '{ s += $NF } END { print s }')" 400000 'with all that was live'

run_expect_status 2 'without a process' "$FLAME" live
file_has err 'live: no command to run, and no process by -p' 'is told'
run_expect_status 2 'with a command' "$FLAME" live -p 1 true
file_has err "live: -p and a command, 'true'" 'is told'
type_line 'clear; flame live -p 2147483646; echo status $?'
sees '^flame: live: there is no process 2147483646' 'no such process'
sees '^status 2$' 'is wrong usage'
term_end
done_testing
