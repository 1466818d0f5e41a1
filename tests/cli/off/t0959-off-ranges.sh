#!/bin/bash
# Views of waiting in a range of the time: --from and --to of fold, top and render, --last of off.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

cat >phases.c <<'END'
#include <time.h>
__attribute__((noinline)) static void naps(long ms)
{
    struct timespec t = {0, ms * 1000000};

    nanosleep(&t, NULL);
    __asm__ volatile("");
}
__attribute__((noinline)) static void first(void)
{
    for (int i = 0; i < 20; i++)
        naps(10);
    __asm__ volatile("");
}
__attribute__((noinline)) static void second(void)
{
    for (int i = 0; i < 5; i++)
        naps(40);
    __asm__ volatile("");
}
int main(void)
{
    first();
    second();
    return 0;
}
END
ok 'the program of two phases is built' "${CC:-gcc}" -O1 -g -o phases phases.c

# Folds of adjacent ranges, added up stack by stack, less the whole: the largest difference in us.
# Each range rounds a stack once.
difference() { # VIEW
    { oview "$1" | sed 's/^/whole /'
      oview "$1" --to 0.1
      oview "$1" --from 0.1 --to 0.25
      oview "$1" --from 0.25; } | awk '
        { n = $NF; sub(/ [0-9]+$/, "") }
        sub(/^whole /, "") { of[$0] -= n; next }
        { of[$0] += n }
        END { for (s in of) { d = of[s] < 0 ? -of[s] : of[s]; if (d > most) most = d } print most + 0 }'
}

for OFF_HOW in --in-process --no-in-process; do
    off ./phases
    for view in off chain offwake wakeup runq io; do
        ok "$OFF_HOW, view $view: three ranges add up to the whole" test "$(difference $view)" -le 3
    done
    # The first phase takes no less than it sleeps, so half of that is too early for the second.
    half=$(oview off | sum ';first;' | awk '{ printf "%.6f", $1 / 2e6 }')
    oview off --to "$half" >early
    file_has early ';first;naps;' "$OFF_HOW: a range at the beginning has the first phase"
    file_lacks early ';second;' "$OFF_HOW: a range at the beginning lacks the second phase"
    ok "$OFF_HOW: a range counts no more than its length" \
        test "$(grep ';first;' early | sum)" -le "$(awk '{ printf "%d", $1 * 1e6 + 2 }' <<<"$half")"
done

run_expect_status 0 'fold of a range succeeds' "$FLAME" fold --view off --from 0.1 --to 0.2 t.flame
file_has out '^# flame: view=off unit=us from=0\.1 to=0\.2$' 'the heading of the text has the range'
run_expect_status 0 'top of a range without --view succeeds' "$FLAME" top --from 0.1 --to 0.2 t.flame
file_has out '^Off-CPU time from 0\.1 s to 0\.2 s: ' 'the heading of the table has the range'
run_expect_status 0 'a picture of a range succeeds' \
    "$FLAME" render --view chain --to 0.2 -o p.svg t.flame
file_has p.svg 'Off-CPU wake chains until 0\.2 s' 'the title of the picture has the range'
run_expect_status 0 'a page of a range succeeds' "$FLAME" render --from 0.1 --to 0.2 -o p.html t.flame

off --lanes off ./phases
run_expect_status 2 'a range of a trace without times is refused' \
    "$FLAME" fold --view off --from 0.1 t.flame
file_has err 'when threads waited is not in the trace; record it with' \
    'a range of a trace without times: the message says what to do'
off ./phases
refuses() {
    run_expect_status 2 "flame $2 is refused: $1" "$FLAME" "${@:2}"
    file_has err "$1" "flame $2 prints why: $1"
}
refuses '--from: nothing was recorded then; the recording ends at 0\.[0-9]+ s' \
    fold --view off --from 100s t.flame
refuses '--from: nothing was recorded then' fold --view critical --from 100s t.flame
refuses '--view latency is of whole sleeps; leave --last out' off --view latency --last 1s -- ./phases
refuses '--view latency is of whole sleeps and not of a range' fold --view latency --from 0.1 t.flame
refuses '--at is a moment' fold --view off --at 0.1 t.flame
refuses '--from is not before --to' fold --view off --from 0.2 --to 0.1 t.flame
refuses 'say which view of the range is wanted' fold --from 0.1 t.flame
refuses 'diff: of waits neither' diff --view off --from 0.1 t.flame t.flame
# The last part of a recording.
for OFF_HOW in --in-process --no-in-process; do
    run_expect_status 0 "$OFF_HOW: off --last succeeds" \
        "$FLAME" off "$OFF_HOW" --last 0.15s -o last.folded -- ./phases
    file_has last.folded '^# flame: view=off unit=us from=0\.[0-9]+$' \
        "$OFF_HOW, --last: the heading has where the last part begins"
    file_has last.folded ';second;naps;' "$OFF_HOW, --last: the last phase is there"
    file_lacks last.folded ';first;' "$OFF_HOW, --last: the first phase is not there"
    ok "$OFF_HOW, --last: no more than the last part counts" \
        test "$(grep -v '^#' last.folded | sum)" -le 150002
    file_has err 'blocked ([0-9]{1,2}\.[0-9]+|1[0-4][0-9]\.[0-9]|150\.0) ms' "$OFF_HOW, --last: the summary is of the last part"
done
file_has err 'traced for [^;]*, shown are its last 150\.0 ms;' '--last: the summary says what is shown'
run_expect_status 0 '--last of a part in which nothing ends succeeds' \
    "$FLAME" off --last 1us -o tiny.folded -- ./phases
file_has tiny.folded '^# flame: view=off' '--last of a part in which nothing ends has a result'
# One of two processes has ended before the part begins.
./phases &
first=$!
sleep 100 &
victim=$!
run timeout 60 "$FLAME" off -p "$first,$victim" --last 0.1s -d 2 -o p.folded
if [ "$status" = 2 ] && grep -q 'not permitted' err; then
    skip ptrace "it cannot be attached to here: $(head -n 1 err)"
else
    is_int "$status" 0 'off -p --last succeeds'
    ok 'off -p --last: a thread waits no longer than the part' \
        test "$(grep '^sleep;' p.folded | sum)" -le 100001
fi
kill "$victim"
run_expect_status 0 'off --last with a picture succeeds' "$FLAME" off -q --last 0.1s -o last.svg -- ./phases
file_has last.svg 'Off-CPU time from 0\.[0-9]+ s' 'the picture of --last has its range in the title'
run_expect_status 0 'off --last of a shorter run succeeds' \
    "$FLAME" off --last 60s -o all.folded -- ./phases
file_has all.folded ';first;naps;' '--last of a shorter run shows all of it'
refuses '--last goes without --lanes off' off --last 1s --lanes off -- ./phases
refuses '--last goes without --region' off --last 1s --region a -- ./phases

off ./phases
"$FLAME" mem -q -o m.flame -- ./phases
refuses 'a trace of memory' fold --view off --from 0.1 m.flame
done_testing
