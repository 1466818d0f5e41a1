/* Calls that a signal cut short: made again with the rest of their timeout, or not. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/sysnr.h"
#include "inproc/lib/eintr_retry.h"
#include "tests/tap.h"

static struct ring_control control;
static int heard_at; /* a signal that matters comes in this one of the calls; 0: in none */

/* Results of the calls that are made again, their number, and the last one. */
static long results[8];
static int made;
static struct patch_call last;
static struct timespec limit;

static long enter(const struct patch_call *call)
{
    last = *call;
    if (call->number == SYS_epoll_pwait2)
        limit = *(struct timespec *)call->args[3];
    if (++made == heard_at)
        control.handled = clock_ns(CLOCK_MONOTONIC);
    return results[made - 1];
}

static long settle(struct patch_call call, uint64_t ago_ns, long result)
{
    made = 0;
    return eintr_retry_settle(&control, eintr_retry_kind(call.number), &call,
                              clock_ns(CLOCK_MONOTONIC) - ago_ns, result, enter);
}

static void test_epoll(void)
{
    struct timespec ten = {10, 0};
    struct patch_call call = {.number = SYS_epoll_wait, .args = {3, 0, 1, 10000}};
    struct patch_call timed = {.number = SYS_epoll_pwait2, .args = {3, 0, 1, (unsigned long)&ten}};

    results[0] = -EINTR, results[1] = 1;
    is_int(settle(call, 4000000000u, -EINTR), 1, "epoll_wait is made again until it is not cut");
    is_int(made, 2, "twice, here");
    ok(last.args[3] > 5000 && last.args[3] <= 6000, "with what is left of its timeout");
    results[0] = 0;
    settle(call, 20000000000u, -EINTR);
    is_int(last.args[3], 0, "which may be nothing");
    call.args[3] = (unsigned long)-1;
    settle(call, 4000000000u, -EINTR);
    is_int((int)last.args[3], -1, "or for ever");
    settle(timed, 4000000000u, -EINTR);
    ok(limit.tv_sec == 5 && ten.tv_sec == 10,
       "a timeout in memory is another's; the program's stays");
    timed.args[3] = 8;
    is_int(settle(timed, 4000000000u, -EINTR), -EINTR, "one that cannot be read is left alone");
    is_int(made, 0, "and its call");
    results[0] = -EINTR;
    heard_at = 1;
    is_int(settle(call, 0, -EINTR), -EINTR, "a signal that the program hears ends it");
    is_int(made, 1, "at once");
    heard_at = 0;
    control.handled = clock_ns(CLOCK_MONOTONIC);
    settle(call, 1000000000u, -EINTR);
    is_int(made, 0, "also one that came in the first");
    control.handled = 0;
}

static void test_files(void)
{
    int p[2], s[2];
    struct timeval second = {1, 0};
    struct patch_call read_it = {.number = SYS_read, .args = {0, 0, 8}};
    struct patch_call write_it = {.number = SYS_write, .args = {0, 1000, 100}};

    if (pipe(p) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0) {
        ok(false, "there are descriptors");
        return;
    }
    results[0] = 5;
    read_it.args[0] = (unsigned long)s[0];
    is_int(settle(read_it, 0, -EINTR), 5, "what a socket returns for that is made undone");
    read_it.args[0] = (unsigned long)p[0];
    is_int(settle(read_it, 0, -EINTR), -EINTR, "but for sockets it is the file's own affair");
    setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    read_it.args[0] = (unsigned long)s[0];
    is_int(settle(read_it, 2000000000u, -EINTR), -EAGAIN, "whose time is over gives up");
    write_it.args[0] = (unsigned long)s[0];
    results[0] = 100;
    is_int(settle(write_it, 2000000000u, -EINTR), 100, "it was its time to receive, not to send");

    write_it.args[0] = (unsigned long)p[1];
    results[0] = 30, results[1] = 60;
    is_int(settle(write_it, 0, 10), 100, "what a pipe did not take is written");
    ok(made == 2 && last.args[1] == 1040 && last.args[2] == 60, "from where it ended");
    results[0] = -EAGAIN;
    is_int(settle(write_it, 0, 10), 10, "or not, if it takes no more");
    results[0] = 30;
    heard_at = 1;
    is_int(settle(write_it, 0, 10), 40, "or a signal comes that the program hears");
    heard_at = 0;
    is_int(settle(write_it, 0, 100), 100, "a whole one is whole");
    write_it.number = SYS_writev;
    settle(write_it, 0, 10);
    is_int(made, 0, "of vectors nothing is made up for");
    control.handled = 0;
    write_it.number = SYS_connect;
    write_it.args[0] = (unsigned long)s[0];
    results[0] = 0;
    is_int(settle(write_it, 0, -EINTR), 0, "connect waits on");
    setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    is_int(settle(write_it, 2000000000u, -EINTR), -EINPROGRESS, "or is left to itself in the end");
    write_it.number = SYS_poll;
    is_int(settle(write_it, 0, -EINTR), -EINTR, "poll ends by handlers alone");
    is_int(eintr_retry_kind(SYS_futex), 0, "nor is there anything to settle of a lock");
}

/* Writes to sockets: bytes of the first attempt, and of the next one. */
static void test_sockets(void)
{
    int s[2];
    struct timeval second = {1, 0};
    struct patch_call call = {.number = SYS_write, .args = {0, 1000, 100, 7, 7, 7}};
    struct patch_call sent = {.number = SYS_sendto, .args = {0, 1000, 100, MSG_MORE, 5000, 16}};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0) {
        ok(false, "there are sockets");
        return;
    }
    call.args[0] = sent.args[0] = (unsigned long)s[0];
    results[0] = 90;
    is_int(settle(call, 0, 10), 100, "what a socket did not take is sent");
    ok(last.number == SYS_sendto && last.args[1] == 1010 && last.args[2] == 90 &&
           last.args[3] == MSG_NOSIGNAL && !last.args[4] && !last.args[5],
       "without a signal if it cannot be");
    settle(sent, 0, 10);
    ok(last.number == SYS_sendto && last.args[3] == (MSG_MORE | MSG_NOSIGNAL) &&
           last.args[4] == 5000 && last.args[5] == 16,
       "to whom it was to go");
    results[0] = -EPIPE;
    is_int(settle(call, 0, 10), 10, "an error of the rest is not the program's to see");
    sent.args[3] = MSG_DONTWAIT;
    settle(sent, 0, 10);
    is_int(made, 0, "one that does not wait is not made again");
    fcntl(s[0], F_SETFL, O_NONBLOCK);
    settle(call, 0, 10);
    is_int(made, 0, "nor one on a descriptor that does not block");
    fcntl(s[0], F_SETFL, 0);
    setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    settle(call, 1000000000u, 10);
    is_int(made, 0, "nor one whose time is over");
    close(s[1]);
    is_int(settle(call, 0, 10), 10, "nor one whose peer has gone");
    is_int(made, 0, "and would send a signal");
    close(s[0]);
    settle(call, 0, 10);
    is_int(made, 0, "nor one of which nothing is known");
}

int main(void)
{
    test_epoll();
    test_sockets();
    test_files();
    return done_testing();
}
