#!/bin/bash
# The summaries of flame mem, run and leak have the findings of the page that they
# write; of a program with known answers.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

[ -z "${SAN-}" ] || skip_all sanitizer 'the victim has an allocator of its own then'

cat >known.c <<'END'
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__attribute__((noinline)) void *keeps(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
__attribute__((noinline)) void loses(void) { char *volatile p = keeps(6000); p = NULL; }
__attribute__((noinline)) void churns(void) { char *volatile p = malloc(700); p[0] = 1; free(p); }
static void *volatile kept;
int main(void)
{
    kept = keeps(300000);
    loses();
    for (int i = 0; i < 2000; i++) churns();
    usleep(60000);
    return 0;
}
END
ok 'known is built' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -o known known.c

# The page's findings, as on the terminal.
sentences() { # PAGE
    grep -o '"text":"[^"]*"' "$1" | sed 's/^"text":"\(.*\)"$/flame: \1/'
}
# The number of the page's findings in the summary.
both() { # PAGE
    sentences "$1" | grep -cxFf - err
}

run_expect_status 0 'flame mem -o mem.html succeeds' "$FLAME" mem -o mem.html -- ./known
file_has err 'keeps \(known\.c:4\) holds most at the peak: 298\.8 KiB of 299\.5 KiB \(99\.77%\)' \
    'the summary has the finding of the peak'
file_has err '2,000 of 2,002 calls \(99\.90%\) for blocks freed before their thread.s next call.* churns' \
    'the summary has the finding of short-lived blocks'
is_int "$(both mem.html)" 3 "the summary of flame mem has the page's three findings"

run_expect_status 0 'flame mem -o mem.svg succeeds' "$FLAME" mem -o mem.svg -- ./known
file_has err 'churns( \(known\.c:6\))? asks for most memory' \
    'the summary of a picture has the findings of its view'
file_lacks err 'at the peak:' 'the summary of a picture has no finding of another view'
run_expect_status 0 'flame mem -o mem.flame succeeds' "$FLAME" mem -o mem.flame -- ./known
file_lacks err 'holds most' 'the summary of a trace has no findings'
run_expect_status 0 'flame mem -q -o mem.html succeeds' "$FLAME" mem -q -o mem.html -- ./known
is_str "$(cat err)" '' 'flame mem -q prints no findings'

run_expect_status 23 'flame leak -o leak.html ends with status 23' "$FLAME" leak -o leak.html -- ./known
file_has err '^flame: Leaked: 5\.86 KiB that nothing leads to, by keeps' \
    'the summary of flame leak has the finding of leaks'
is_int "$(both leak.html)" 3 "the summary of flame leak has the page's three findings"

if "$FLAME" run -o run.html -- ./known >out 2>err; then
    file_has err '^flame: Blocked longest is main' 'the summary of flame run has the longest wait'
    is_int "$(both run.html)" 3 "the summary of flame run has the page's three findings"
    is_int "$(grep -c 'ock most waited for is' err)" 0 'the summary of flame run names no lock twice'
else
    skip ptrace "flame run: $(head -n 1 err)"
fi

# Hostile names: no control character reaches the terminal.
cat >evil.c <<'END'
#include <stdlib.h>
#include <string.h>
extern void *evil(size_t n) __asm__("e\u202evil");
void *evil(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
static void *volatile kept;
int main(void) { kept = evil(500000); return 0; }
END
ok 'evil is built' "${CC:-gcc}" -O0 -g0 -o evil evil.c
run_expect_status 0 'flame mem of a program with a hostile name succeeds' "$FLAME" mem -o evil.html -- ./evil
file_has err '^flame: e[^v]*vil holds most at the peak' 'the summary has the finding with the hostile name'
is_int "$(LC_ALL=C grep -c $'\xe2\x80\xae' err)" 0 'the summary has no raw direction mark'
done_testing
