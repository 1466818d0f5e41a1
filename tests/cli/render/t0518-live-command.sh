#!/bin/bash
# flame live -- COMMAND on a terminal: flame starts and shows a program, whose output and exit status
# are unchanged.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/terminal.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'

# Each line of the pipe is an order. It prints TMPDIR, and whether its input is a terminal.
cat >keeper.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) void *keeps(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
static void *kept[1000];
int main(int argc, char **argv)
{
    FILE *orders = fopen(argv[1], "r");
    const char *tmp = getenv("TMPDIR");
    char line[64];
    int n = 0;
    printf("TMPDIR %s, input %s\n", tmp && strrchr(tmp, '/') ? strrchr(tmp, '/') + 1 : "none", isatty(0) ? "terminal" : "other");
    fflush(stdout);
    while (fgets(line, sizeof line, orders)) {
        if (line[0] == 'k') kept[n++] = keeps(100000);
        if (line[0] == 'w') { fprintf(stderr, "word %d\n", n); usleep(1000); }
        if (line[0] == 'x') return atoi(line + 1);
    }
    return argc - 2;
}
END
ok 'keeper is built' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -o keeper keeper.c
mkfifo orders

term_begin 100 24
mkdir mine
type_line 'export TMPDIR=$PWD/mine; flame live -e 0.2 -t -- ./keeper orders; echo status $?'
exec 7>orders
sees '^(Memory live|Nothing yet): .*keeper, [0-9]+ s' 'flame live -- COMMAND starts and shows the command'
echo kkk | sed 's/./&\n/g' >&7
sees '^Memory live: .*300,000 bytes|300,000|293.0 KiB .*keeps$' 'flame live -- COMMAND shows the allocated bytes'
sees ' keeps$' 'flame live -- COMMAND shows the allocating function'
echo w >&7
sees_not 'word 3' "flame live -- COMMAND hides the command's output while it draws"
press q
sees '^flame: live: keeper still runs; Ctrl-C ends it' 'q ends the picture, not the command'
sees '^TMPDIR mine, input other' "the command's output is shown after q, with its own environment"
sees '^word 3' "the command's output is shown in order"
echo w >&7
sees '^word 3' "the command's later output is shown"
echo x7 >&7
sees '^status 7$' "flame live ends with the command's status 7"
exec 7>&-

type_line 'clear; flame live -e 0.2 -t -- ./keeper orders; echo status $?'
exec 7>orders
sees 'keeper, [0-9]+ s' 'flame live -- COMMAND starts a second time'
echo k >&7
sees ' keeps$' 'flame live -- COMMAND shows the second command'
echo x5 >&7
sees 'keeper has ended' 'flame live -- COMMAND shows the end of the command'
sees ' keeps$' 'flame live -- COMMAND shows the live blocks at the end'
press q
sees '^status 5$' "q ends flame live with the ended command's status"
exec 7>&-

type_line 'clear; flame live -e 0.2 -- ./keeper orders; echo status $?'
exec 7>orders
sees 'keeper, [0-9]+ s' 'flame live -- COMMAND starts a third time'
press C-c
sees '^ready' 'Ctrl-C ends flame live and the command'
type_line 'echo status $?'
sees '^status 130$' 'Ctrl-C ends flame live with status 130'
exec 7>&-

# Waits of the program, logged in-process and by stops.
for how in -w --stops; do
    type_line "clear; flame live $how -e 0.2 -t -- sleep 0.5; echo status \$?"
    sees 'sleep has ended' "$how: flame live shows the end of the command"
    sees 'nanosleep' "$how: flame live shows the command's wait"
    press q
    sees '^status 0$' "$how: flame live ends with the command's status"
done

# Processes of a program are shown together; for a short one the last picture stays.
type_line "clear; flame live -t -- sh -c './keeper /dev/null; ./keeper /dev/null x; exit 3'; echo status \$?"
sees 'sh has ended' 'flame live shows a command that ends at once'
press q
sees '^status 3$' 'flame live ends with the status of a command that ends at once'
type_line 'clear; flame live -- ./nothing-there; echo status $?'
sees "^flame: .*nothing-there" 'flame live of a missing command says so'
sees '^status 2$' 'flame live of a missing command ends with status 2'
term_end
is_str "$(ls mine)" '' 'flame live -- COMMAND leaves no file in TMPDIR'

run_expect_status 2 'flame live with -p and a command ends with status 2' "$FLAME" live -p 1 -- true
file_has err "live: -p and a command, 'true'; watch one or the other" \
    'flame live with -p and a command says why'
done_testing
