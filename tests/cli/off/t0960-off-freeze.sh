#!/bin/bash
# flame off --last with --freeze-when: a recording that ends with a long sleep of one function.
. "${0%/*}/../lib.sh"
. "$ROOT/tests/cli/off.sh"

# Each request takes a lock that another thread holds for 5 ms, and once, in the 20th time, for
# 400 ms. A third thread sleeps for long all the time.
cat >stall.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void ms(long n)
{
    struct timespec t = {n / 1000, n % 1000 * 1000000};

    nanosleep(&t, NULL);
    __asm__ volatile("");
}
__attribute__((noinline)) static void *holder(void *arg)
{
    for (int i = 0;; i++) {
        pthread_mutex_lock(&lock);
        ms(i == 20 ? 400 : 5);
        pthread_mutex_unlock(&lock);
        ms(20);
    }
    return arg;
}
__attribute__((noinline)) static void *idle(void *arg)
{
    for (;;)
        ms(5000);
    return arg;
}
__attribute__((noinline)) static void handle_request(void)
{
    pthread_mutex_lock(&lock);
    __asm__ volatile("");
    pthread_mutex_unlock(&lock);
    __asm__ volatile("");
}
__attribute__((noinline)) static void later(void)
{
    ms(500);
    ms(500);
    __asm__ volatile("");
}
int main(int argc, char **argv)
{
    pthread_t t;

    pthread_create(&t, NULL, holder, NULL);
    pthread_create(&t, NULL, idle, NULL);
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 100); i++) {
        handle_request();
        ms(10);
    }
    later();
    return 7;
}
END
ok 'the program that stalls is built' "${CC:-gcc}" -O1 -g -pthread -o stall stall.c

frozen() { # WHAT FILE
    file_has err '^flame: a sleep of [2-9][0-9][0-9] ms under handle_request: the recording is frozen here$' \
        "$1: the sleep is reported"
    file_has "$2" '^# flame: view=off unit=us from=[0-9.]+' "$1: the heading has the range"
    ok "$1: the long sleep is in the result" \
        test "$(grep ';handle_request;.*futex' "$2" | sum .)" -ge 200000
}

for OFF_HOW in --in-process --no-in-process; do
    run "$FLAME" off "$OFF_HOW" --last 1s --freeze-when 'handle_request>200ms' -o f.folded -- ./stall
    is_int "$status" 7 "a command, $OFF_HOW: the exit status is the command's"
    frozen "a command, $OFF_HOW" f.folded
    file_lacks f.folded ';later;' "a command, $OFF_HOW: what came much later is not there"
    # The idle thread slept all the time, and beyond the end.
    from=$(sed -nE 's/^# flame: .* from=([0-9.]+) to=([0-9.]+)$/\2 - \1/p' f.folded)
    ok "a command, $OFF_HOW: a sleep that lasted beyond the end counts up to it" \
        test "$(grep ';idle;' f.folded | sum .)" -ge "$(awk "BEGIN { printf \"%d\", ($from) * 800000 }")"
done

for how in --stops --no-stops; do
    ./stall 100000 &
    victim=$!
    run timeout 60 "$FLAME" off -p "$victim" ${how/#--stops/} --last 1s \
        --freeze-when 'handle_request>200ms' -o p.folded
    if [ "$status" = 2 ] && grep -qi 'permitted\|paranoid' err; then
        skip ptrace "attached, $how: it cannot be attached to here: $(head -n 1 err)"
    else
        is_int "$status" 0 "attached, $how: flame off ends by itself"
        frozen "attached, $how" p.folded
        ok "attached, $how: the process runs on" kill -0 "$victim"
    fi
    kill "$victim"
    wait "$victim" 2>/dev/null
done

run "$FLAME" off --last 60s --freeze-when 'no_such_function>1ms' -o n.folded -- ./stall 20
is_int "$status" 7 'no sleep matches: the exit status is the command'\''s'
file_lacks err 'frozen' 'no sleep matches: nothing is frozen'
file_has n.folded ';later;' 'no sleep matches: the recording goes on to the end'
run "$FLAME" off --last 60s --freeze-when 'handle_request>9s' -o n.folded -- ./stall 20
file_lacks err 'frozen' 'no sleep is long enough: nothing is frozen'

for bad in 'x' 'x>' '>5ms' 'x>0' 'x>soon' '(>5ms'; do
    run_expect_status 2 "--freeze-when '$bad' is refused" \
        "$FLAME" off --last 1s --freeze-when "$bad" -- ./stall
    file_has err '^flame: off: --freeze-when .*: expected REGEX>TIME' \
        "--freeze-when '$bad': the message says what is expected"
done
run_expect_status 2 '--freeze-when without --last is refused' \
    "$FLAME" off --freeze-when 'x>5ms' -- ./stall
file_has err '--freeze-when goes with --last TIME' '--freeze-when without --last: the message says why'
done_testing
