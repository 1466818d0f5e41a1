#!/bin/bash
# flame fold: its options, several traces, and its errors.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/mem.sh"

cat >prog.c <<'END'
#include <pthread.h>
#include <stdlib.h>
__attribute__((noinline)) void *give(size_t n) { void *p = malloc(n); __asm__ volatile("" ::: "memory"); return p; }
static void *thread(void *arg) { (void)arg; free(give(7)); return NULL; }
int main(int argc, char **argv)
{
    (void)argv;
    pthread_t t;
    void *volatile keep = give(100);
    free(give(20));
    (void)keep;
    if (argc > 1) {
        pthread_create(&t, NULL, thread, NULL);
        pthread_join(t, NULL);
    }
    return 0;
}
END
ok 'prog is built' gcc -O1 -fno-optimize-sibling-calls -pthread -o prog prog.c
record '' ./prog
mv t.flame one.flame
record '' ./prog threads
mv t.flame two.flame

# Sum of the stacks of file $2 that match $1.
sum() {
    re=$1 awk '$0 ~ ENVIRON["re"] { sum += $NF } END { print sum + 0 }' "$2"
}

run_expect_status 0 'fold of one trace succeeds' "$FLAME" fold one.flame
cp out one.folded
is_str "$(cat err)" '' 'fold of one trace prints nothing on standard error'
is_str "$(head -n 1 out)" '# flame: view=alloc unit=bytes' 'fold: the first line has view and unit'
is_int "$(sum '^prog;.*;main;give ' out)" 120 'fold counts the allocated bytes'
is_str "$(sed 1d out)" "$(sed 1d out | sort -u)" 'fold sorts, with each stack once'
file_lacks out ' -|;0$| 0$' 'fold prints no count below one'

for view in count:2 live:100 peak:120 temp:1; do
    run_expect_status 0 "fold --view ${view%:*} succeeds" "$FLAME" fold --view "${view%:*}" one.flame
    is_int "$(sum '^prog;.*;main;give ' out)" "${view#*:}" "fold --view ${view%:*} has its count"
    file_has out "^# flame: view=${view%:*} unit=(bytes|calls)$" \
        "fold --view ${view%:*}: the first line has view and unit"
done
run "$FLAME" fold -v count one.flame
is_str "$(cat out)" "$("$FLAME" fold --view=count one.flame)" 'fold -v is --view'

run_expect_status 0 'fold --no-header succeeds' "$FLAME" fold --no-header one.flame
is_str "$(cat out)" "$(sed 1d one.folded)" 'fold --no-header prints the stacks alone'
run_expect_status 0 'fold of standard input succeeds' "$FLAME" fold - <one.flame
is_str "$(cat out)" "$(cat one.folded)" 'fold of standard input prints the same stacks'
run_expect_status 0 'fold of a pipe succeeds' sh -c "cat one.flame | '$FLAME' fold -"
is_str "$(cat out)" "$(cat one.folded)" 'fold of a pipe prints the same stacks'
gzip -k one.flame
is_str "$("$FLAME" fold one.flame.gz)" "$("$FLAME" fold one.flame)" \
    'fold of a trace packed with gzip prints the same stacks'
run_expect_status 0 'fold -o succeeds' "$FLAME" fold -o made.folded one.flame
is_str "$(cat made.folded)" "$(cat one.folded)" 'fold -o writes the same stacks'
is_str "$(cat out)" '' 'fold -o prints nothing on standard output'

run_expect_status 0 'fold of two traces succeeds' "$FLAME" fold one.flame two.flame
is_int "$(sum ';main;give ' out)" 240 'fold of two traces sums the counts'
is_int "$(grep -c ';main;give ' out)" 1 'fold of two traces has each stack once'
run_expect_status 0 'fold --pid of two traces succeeds' "$FLAME" fold --pid one.flame two.flame
is_int "$(grep -c '^prog-[0-9]*;.*;main;give ' out)" 2 'fold --pid of two traces separates two processes'
is_int "$(sed 1d out | cut -d';' -f1 | sort -u | wc -l)" 2 'fold --pid of two traces has two roots'
run_expect_status 0 'fold --tid succeeds' "$FLAME" fold --tid two.flame
is_int "$(sum '^prog;prog-[0-9]*;.*;main;give ' out)" 120 'fold --tid has the main thread'
is_int "$(sum '^prog;prog-[0-9]*;.*;thread;give ' out)" 7 'fold --tid has the other thread'
is_int "$(sed 1d out | cut -d';' -f2 | sort -u | wc -l)" 2 'fold --tid separates two threads'

# ---- errors: one line, status 2, nothing on standard output ----

refuses() {
    local words=$1 name=$2
    shift 2
    run_expect_status 2 "fold error, $name: status 2" "$@"
    like "$(cat err)" "$words" "fold error, $name: the message"
    is_int "$(wc -l <err)" 1 "fold error, $name: one line"
    is_int "$(wc -c <out)" 0 "fold error, $name: nothing on standard output"
}

head -c 10000 one.flame >cut.flame
head -c 100 one.flame >stub.flame
: >empty.flame
printf 'no stack in sight\n' >text.flame
spoil() { # FILE OFFSET BYTES
    cp one.flame "$1"
    printf '%b' "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}
spoil version.flame 8 '\x63'
spoil order.flame 16 '\x01\x02\x03\x04'
spoil features.flame 20 '\xff\xff\xff\xff'
spoil segment.flame 5120 'XXXX'

refuses 'no file named' 'no argument' "$FLAME" fold
refuses '--view leaks: expected alloc, count, live, .* or hotcold' 'view' "$FLAME" fold --view leaks one.flame
refuses 'needs a value' 'view without value' "$FLAME" fold --view
refuses '[-]-nonsense' 'option' "$FLAME" fold --nonsense one.flame
refuses 'missing.flame: cannot read: No such file' 'missing file' "$FLAME" fold missing.flame
refuses 'a directory' 'directory' "$FLAME" fold .
refuses 'text.flame: 1 of 1 lines are no folded stacks' 'text' "$FLAME" fold text.flame
refuses 'cut: its header says [0-9]+ bytes, the file has 10000' 'cut file' "$FLAME" fold cut.flame
refuses 'cut: a trace.s header' 'cut header' "$FLAME" fold stub.flame
refuses 'trace version 99' 'version' "$FLAME" fold version.flame
refuses 'other byte order' 'byte order' "$FLAME" fold order.flame
refuses 'features' 'features' "$FLAME" fold features.flame
refuses 'damaged at byte 5120' 'damage' "$FLAME" fold segment.flame
refuses 'missing.flame' 'one bad of two' "$FLAME" fold one.flame missing.flame
refuses 'nowhere/x: cannot write' 'no such directory' "$FLAME" fold -o nowhere/x one.flame

# An empty input is an empty profile, as of an idle machine.
printf '# of an idle machine\n\n' >idle.folded
for file in empty.flame idle.folded - /dev/null; do
    run_expect_status 0 "fold of an empty profile succeeds: $file" "$FLAME" fold "$file" </dev/null
    is_str "$(cat out err)" '' "fold of an empty profile prints nothing: $file"
done
"$FLAME" fold one.folded >alone
run_expect_status 0 'fold of empty profiles and text succeeds' "$FLAME" fold empty.flame one.folded idle.folded
ok 'fold of empty profiles and text prints the text alone' cmp out alone
run_expect_status 0 'fold of an empty profile and a trace succeeds' "$FLAME" fold one.flame empty.flame
ok 'fold of an empty profile and a trace prints the trace alone' cmp out alone
gzip -c empty.flame >empty.gz
run_expect_status 0 'fold of a packed empty profile succeeds' "$FLAME" fold empty.gz
head -c 10 empty.gz >cut.gz
refuses 'cut.gz: cannot read: its compressed data is cut short' 'a packed one that is cut' "$FLAME" fold cut.gz

echo before >kept.folded
run "$FLAME" fold -o kept.folded cut.flame
is_str "$(cat kept.folded)" before 'fold -o after an error keeps the old file'
is_str "$(echo kept.folded*)" kept.folded 'fold -o after an error leaves no partial file'
run_expect_status 1 'fold on a full disk ends with status 1' sh -c "'$FLAME' fold one.flame >/dev/full"
like "$(cat err)" 'No space left' 'fold on a full disk says so'
run_expect_status 0 'fold --help succeeds' "$FLAME" fold --help
like "$(cat out)" '^usage: flame fold' 'fold --help prints the usage'

# A reader that goes away early, of more text than a pipe holds.
cat >many.c <<'END'
#include <stdlib.h>
static void __attribute__((noinline)) way(int bits, int left)
{
    void *volatile p = left ? NULL : malloc(100);

    free(p);
    if (!left)
        return;
    if (bits & 1)
        way(bits >> 1, left - 1);
    else
        way(bits >> 1, left - 1);
    __asm__ volatile("" ::: "memory");
}
int main(void)
{
    for (int i = 0; i < 4096; i++)
        way(i, 12);
}
END
"${CC:-gcc}" -g -O0 -o many many.c
"$FLAME" mem -q --no-names -o many.flame -- ./many
folds_many() {
    local p
    for p in /proc/[0-9]*/cmdline; do
        tr '\0' ' ' <"$p" 2>/dev/null | grep -q "^$FLAME fold .*many\.flame" && return
    done
    return 1
}
nothing_folds() { ! folds_many; }
ok 'the text is longer than a pipe holds' test "$("$FLAME" fold --lines many.flame 2>/dev/null | wc -c)" -gt 100000
"$FLAME" fold --lines many.flame 2>/dev/null | head -c 1 >/dev/null
ok 'fold: no process is left when the reader goes away' comes_true nothing_folds
done_testing
