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
ok 'grower is built' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -o grower grower.c

start() { # COMMAND...
    rm -f to from
    mkfifo to from
    "$@" <to >from 2>victim.err &
    exec 7>to 8<from
    read -r _ <&8
}
tell_it() { # one command for each letter
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
sees "^(Memory live|Nothing yet): .*grower $victim|^status" 'flame live -p attaches'
if screen | grep -q '^status'; then
    screen | grep '^flame' >err
    term_end
    skip_all attach "it cannot be attached to here: $(head -n 1 err)"
fi
tell_it kkkll
sees '^Memory live: 293.0 KiB, 300,000 bytes; what it allocated before is not known' 'flame live shows the live bytes'
sees '293.0 KiB 100.00% .*keeps$' 'flame live shows the function of the live bytes'
sees_not 'loses' 'flame live does not show a freed block as live'
press V V
sees '^Memory allocated: 302.7 KiB, 310,000 bytes' 'flame live shows the allocated bytes after V V'
sees ' 9.77 KiB +3.23% .*loses$' 'flame live shows freed blocks among the allocated'
press v v d
sees '^In the last look: Memory live: 0 bytes' 'flame live shows no change in the last interval after d'
press Space
sees '^In the last look: .*\[paused\]' 'flame live shows that it is paused after Space'
tell_it kf
press d
sees '^Memory live: 293.0 KiB' 'a paused flame live does not update'
press Space
press V V
sees '^Memory allocated: 400.4 KiB, 410,000 bytes' 'flame live continues after Space'
press q
sees '^status 0$' 'q ends flame live with status 0'
ok 'flame live leaves the process running' kill -0 "$victim"
is_str "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$victim/status")" 0 'flame live leaves the process untraced'
tell_it kflll
test_ok 'the process allocates and frees after flame live'

# Ended by a signal, by its terminal, and by the process.
type_line "clear; flame live -p $victim; echo status \$?"
sees "grower $victim" 'flame live attaches a second time'
pkill_pid=$(pgrep -f "live -p $victim" -n -P "$(term_flag pane_pid)")
kill -TERM "$pkill_pid"
sees '^status 143$' 'SIGTERM ends flame live with status 143'
is_str "$(ls -d "${TMPDIR:-/tmp}"/flame-live.*/*"$victim"* 2>/dev/null)" '' \
    'SIGTERM of flame live leaves no files'
tell_it kf
ok 'SIGTERM of flame live leaves the process running' kill -0 "$victim"
type_line "clear; flame live -e 0.2 -p $victim; echo status \$?"
sees "grower $victim" 'flame live attaches a third time'
exec 7>&-
sees "grower $victim has ended" 'flame live shows the end of the process'
press q
sees '^status 0$' 'flame live stays until q after the end of the process'

# flame live does not attach to a process that is recorded already.
start "$FLAME" mem -q -o t.flame -- ./grower
tell_it kkl
recorded=$(pgrep -P $! -x grower)
type_line "clear; flame live -e 0.2 -t -p $recorded; echo status \$?"
sees '200,000 bytes .*keeps|Memory live: .*grower' 'flame live shows a process that is recorded already'
tell_it kk
sees "keeps$" 'flame live reads the trace of a recorded process'
is_str "$(sed -n 's/^TracerPid:[^0-9]*//p' "/proc/$recorded/status")" 0 \
    'flame live does not attach to a recorded process'
press q
sees '^status 0$' 'q ends flame live of a recorded process with status 0'
exec 7>&-
wait "$!"
is_int "$?" 0 'flame mem of a process under flame live ends with status 0'
is_int "$("$FLAME" fold --view live --no-header t.flame | grep 'keeps' | awk '{ s += $NF } END { print s }')" 400000 \
    'flame mem of a process under flame live has all live bytes'

run_expect_status 2 'flame live without a process ends with status 2' "$FLAME" live
file_has err 'live: no command to run, and no process by -p' 'flame live without a process says so'
run_expect_status 2 'flame live with a process and a command ends with status 2' "$FLAME" live -p 1 true
file_has err "live: -p and a command, 'true'" 'flame live with a process and a command says so'
type_line 'clear; flame live -p 2147483646; echo status $?'
sees '^flame: live: there is no process 2147483646' 'flame live of an unused process id says so'
sees '^status 2$' 'flame live of an unused process id ends with status 2'
term_end
done_testing
