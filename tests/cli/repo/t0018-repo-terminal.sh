#!/bin/bash
# Names come from programs and files: names with escape sequences, C1 controls or characters that change the
# direction of text reach no terminal unchanged, from any command. A file and a pipe get folded text
# unchanged, so that reading it gives what was written.
. "${0%/*}/../lib.sh"

evil=$'\xc2\x9b31m\xe2\x80\xae\x1b['
raw=$'\xc2\x9b|\xe2\x80\xae|\x1b|\xe2\x80\xa8|[^\xc2]\x9b'

# The output of COMMAND on a terminal, with its standard error.
on_terminal() {
    run python3 -c 'import os, pty, sys
os.environ["TERM"] = "xterm"
os.environ["NO_COLOR"] = "1"
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' "$@" </dev/null
}
clean() { # FILE NAME
    if LC_ALL=C grep -aqE "$raw" "$1"; then
        test_fail "$2" "$(LC_ALL=C grep -aE "$raw" "$1" | head -n 3 | cat -v)"
    else
        test_ok "$2"
    fi
}

# ---- a process with such a name ----

cat >evil.c <<'EOS'
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
static void *volatile kept;
int main(int argc, char **argv)
{
    prctl(PR_SET_NAME, "\xc2\x9b" "31m\xe2\x80\xae\x1b[2J");
    memset(argv[0], 0x9b, strlen(argv[0]));
    kept = malloc(777);
    kept = NULL;
    usleep(1000);
    return argc > 1;
}
EOS
ok 'the program with an evil name is built' "${CC:-gcc}" -O1 -o "./$evil" evil.c
for command in mem off run; do
    run "$FLAME" $command -o x.folded -- "./$evil"
    is_int "$status" 0 "flame $command of an evil name succeeds"
    clean err "flame $command of an evil name prints no raw control"
    LC_ALL=C file_has err 'x9b31m.u\{202e\}' "flame $command shows an evil name escaped"
done
run "$FLAME" leak -o x.svg --tap - -- "./$evil"
is_int "$status" 23 'flame leak of an evil name ends with status 23'
clean err 'flame leak of an evil name prints no raw control'
clean out 'the report of flame leak has no raw control'
run env LD_PRELOAD="$SHIM" FLAMEMEM_OPTIONS="out=/nowhere/$evil" "./$evil"
clean err 'the recorder prints no raw control'

# ---- a file of such a name ----

for command in fold render top dump collapse pack 'diff x.folded'; do
    # shellcheck disable=SC2086 # a command and its argument
    run "$FLAME" $command "./no$evil"
    is_int "$status" 2 "flame $command of a missing file with an evil name ends with status 2"
    clean err "flame $command of a missing file prints no raw control"
done
run "$FLAME" mem -- "./no$evil"
clean err 'flame mem of a missing command prints no raw control'

# ---- text with such names ----

# Characters that folded text may hold, as other tools wrote it.
printf 'main;turn\xe2\x80\xaeed;line\xe2\x80\xa8;caf\xc3\xa9 7\nmain;c1\xc2\x9b31m 5\n' >names.folded
printf 'main;turn\xe2\x80\xaeed 9\n' >later.folded
run "$FLAME" fold --no-header -o back.folded names.folded
is_str "$(LC_ALL=C sort back.folded)" "$(LC_ALL=C sort names.folded)" 'a file gets folded text unchanged'
is_str "$("$FLAME" fold --no-header names.folded)" "$(cat back.folded)" 'a pipe gets folded text unchanged'
on_terminal "$FLAME" fold names.folded
clean out 'flame fold prints no raw control to a terminal'
file_has out 'turn.u\{202e\}ed;line.u\{2028\};caf'$'\xc3\xa9'' 7' 'flame fold shows names escaped on a terminal'
on_terminal "$FLAME" collapse names.folded
clean out 'flame collapse prints no raw control to a terminal'
on_terminal "$FLAME" diff names.folded later.folded
clean out 'flame diff prints no raw control to a terminal'
on_terminal "$FLAME" top names.folded
clean out 'flame top prints no raw control to a terminal'
on_terminal "$FLAME" render -f folded names.folded
clean out 'flame render prints no raw control to a terminal'
on_terminal "$FLAME" fold -o /dev/tty names.folded
clean out 'flame fold -o /dev/tty prints no raw control'
run "$FLAME" mem -q -o x.flame -- "./$evil"
on_terminal "$FLAME" dump x.flame
clean out 'flame dump prints no raw control to a terminal'
on_terminal "$FLAME" dump --json x.flame
clean out 'flame dump --json prints no raw control to a terminal'
done_testing
