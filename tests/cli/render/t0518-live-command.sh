#!/bin/bash
# flame live -- COMMAND on a terminal: a program is started and seen, its output and its exit status
# are its own.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/terminal.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'

# Each line of the pipe is an order. It says where TMPDIR is, and whether its input is a terminal.
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
ok 'a program that allocates when it is told' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -o keeper keeper.c
mkfifo orders

term_begin 100 24
mkdir mine
type_line 'export TMPDIR=$PWD/mine; flame live -e 0.2 -t -- ./keeper orders; echo status $?'
exec 7>orders
sees '^(Memory live|Nothing yet): .*keeper, [0-9]+ s' 'a program is started and seen'
echo kkk | sed 's/./&\n/g' >&7
sees '^Memory live: .*300,000 bytes|300,000|293.0 KiB .*keeps$' 'what it allocates'
sees ' keeps$' 'and where'
echo w >&7
sees_not 'word 3' 'its output is not in the picture'
press q
sees '^flame: live: keeper still runs; Ctrl-C ends it' 'q ends the picture, not the program'
sees '^TMPDIR mine, input other' 'what it wrote is shown then, and its environment is its own'
sees '^word 3' 'in order'
echo w >&7
sees '^word 3' 'and what it writes from then on'
echo x7 >&7
sees '^status 7$' 'its exit status'
exec 7>&-

type_line 'clear; flame live -e 0.2 -t -- ./keeper orders; echo status $?'
exec 7>orders
sees 'keeper, [0-9]+ s' 'again'
echo k >&7
sees ' keeps$' 'it is seen'
echo x5 >&7
sees 'keeper has ended' 'its end is'
sees ' keeps$' 'with what was there then'
press q
sees '^status 5$' 'q, and its exit status'
exec 7>&-

type_line 'clear; flame live -e 0.2 -- ./keeper orders; echo status $?'
exec 7>orders
sees 'keeper, [0-9]+ s' 'again'
press C-c
sees '^ready' 'Ctrl-C ends both'
type_line 'echo status $?'
sees '^status 130$' 'by its signal'
exec 7>&-

# Waits of the program, logged in-process and by stops.
for how in -w --stops; do
    type_line "clear; flame live $how -e 0.2 -t -- sleep 0.5; echo status \$?"
    sees 'sleep has ended' "$how: its end is seen"
    sees 'nanosleep' 'with what it waited for'
    press q
    sees '^status 0$' 'and has its status'
done

# Processes of a program are seen together; a short one's picture is its last.
type_line "clear; flame live -t -- sh -c './keeper /dev/null; ./keeper /dev/null x; exit 3'; echo status \$?"
sees 'sh has ended' 'one that ends at once is shown'
press q
sees '^status 3$' 'and has its status'
type_line 'clear; flame live -- ./nothing-there; echo status $?'
sees "^flame: .*nothing-there" 'no such program'
sees '^status 2$' 'is wrong usage'
term_end
is_str "$(ls mine)" '' 'no files are left'

run_expect_status 2 'with both' "$FLAME" live -p 1 -- true
file_has err "live: -p and a command, 'true'; watch one or the other" 'is told'
done_testing
