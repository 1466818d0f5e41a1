#!/bin/bash
# The ends of flame mem, run and leak say what there is to see, in the sentences of the page that they
# have made; of a program whose answers are known.
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
ok 'a program whose answers are known' \
    "${CC:-gcc}" -O1 -g -fno-inline -fno-builtin -o known known.c

# The page's sentences, as the terminal has them.
sentences() { # PAGE
    grep -o '"text":"[^"]*"' "$1" | sed 's/^"text":"\(.*\)"$/flame: \1/'
}
# How many of the page's stand in the summary.
both() { # PAGE
    sentences "$1" | grep -cxFf - err
}

run_expect_status 0 'flame mem, a page' "$FLAME" mem -o mem.html -- ./known
file_has err 'keeps \(known\.c:4\) holds most at the peak: 298\.8 KiB of 299\.5 KiB \(99\.77%\)' 'who holds most'
file_has err '2,000 of 2,002 calls \(99\.90%\) for blocks freed before their thread.s next call.* churns' \
    'and what is freed at once'
is_int "$(both mem.html)" 3 'three sentences, which are those of the page'

run_expect_status 0 'flame mem, a picture' "$FLAME" mem -o mem.svg -- ./known
file_has err 'churns( \(known\.c:6\))? asks for most memory' 'are those of its view'
file_lacks err 'at the peak:' 'alone'
run_expect_status 0 'flame mem, a trace' "$FLAME" mem -o mem.flame -- ./known
file_lacks err 'holds most' 'for which nothing is folded has none'
run_expect_status 0 'flame mem -q' "$FLAME" mem -q -o mem.html -- ./known
is_str "$(cat err)" '' 'is silent'

run_expect_status 23 'flame leak, a page' "$FLAME" leak -o leak.html -- ./known
file_has err '^flame: Leaked: 5\.86 KiB that nothing leads to, by keeps' 'says what leaked'
is_int "$(both leak.html)" 3 'as its page does'

if "$FLAME" run -o run.html -- ./known >out 2>err; then
    file_has err '^flame: Blocked longest is main' 'flame run: what was waited for'
    is_int "$(both run.html)" 3 'as its page does'
    is_int "$(grep -c 'ock most waited for is' err)" 0 'and no lock twice'
else
    skip ptrace "flame run: $(head -n 1 err)"
fi

# Names are a stranger's: nothing in them commands the terminal.
cat >evil.c <<'END'
#include <stdlib.h>
#include <string.h>
extern void *evil(size_t n) __asm__("e\u202evil");
void *evil(size_t n) { void *p = malloc(n); memset(p, 1, n); return p; }
static void *volatile kept;
int main(void) { kept = evil(500000); return 0; }
END
ok 'a program with a name that turns the direction of text' "${CC:-gcc}" -O0 -g0 -o evil evil.c
run_expect_status 0 'is recorded' "$FLAME" mem -o evil.html -- ./evil
file_has err '^flame: e[^v]*vil holds most at the peak' 'and named'
is_int "$(LC_ALL=C grep -c $'\xe2\x80\xae' err)" 0 'by nothing that turns it'
done_testing
