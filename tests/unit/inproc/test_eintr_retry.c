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
    is_int(settle(call, 4000000000u, -EINTR), 1, "epoll_wait is repeated until it is not cut");
    is_int(made, 2, "epoll_wait is repeated as often as it is cut");
    ok(last.args[3] > 5000 && last.args[3] <= 6000,
       "epoll_wait is repeated with the rest of its timeout");
    results[0] = 0;
    settle(call, 20000000000u, -EINTR);
    is_int(last.args[3], 0, "epoll_wait past its timeout is repeated with timeout 0");
    call.args[3] = (unsigned long)-1;
    settle(call, 4000000000u, -EINTR);
    is_int((int)last.args[3], -1, "epoll_wait without a timeout is repeated without one");
    settle(timed, 4000000000u, -EINTR);
    ok(limit.tv_sec == 5 && ten.tv_sec == 10,
       "epoll_pwait2 is repeated with a copy of its timeout");
    timed.args[3] = 8;
    is_int(settle(timed, 4000000000u, -EINTR), -EINTR,
           "epoll_pwait2 with an unreadable timeout keeps its EINTR");
    is_int(made, 0, "epoll_pwait2 with an unreadable timeout is not repeated");
    results[0] = -EINTR;
    heard_at = 1;
    is_int(settle(call, 0, -EINTR), -EINTR,
           "a handled signal during the repeated call ends it with EINTR");
    is_int(made, 1, "a handled signal during the repeated call ends the repetition");
    heard_at = 0;
    control.handled = clock_ns(CLOCK_MONOTONIC);
    settle(call, 1000000000u, -EINTR);
    is_int(made, 0, "a handled signal during the first call prevents a repetition");
    control.handled = 0;
}

static void test_files(void)
{
    int p[2], s[2];
    struct timeval second = {1, 0};
    struct patch_call read_it = {.number = SYS_read, .args = {0, 0, 8}};
    struct patch_call write_it = {.number = SYS_write, .args = {0, 1000, 100}};

    if (pipe(p) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0) {
        ok(false, "a pipe and a socket pair are made");
        return;
    }
    results[0] = 5;
    read_it.args[0] = (unsigned long)s[0];
    is_int(settle(read_it, 0, -EINTR), 5, "read of a socket is repeated after EINTR");
    read_it.args[0] = (unsigned long)p[0];
    is_int(settle(read_it, 0, -EINTR), -EINTR, "read of a pipe keeps its EINTR");
    setsockopt(s[0], SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    read_it.args[0] = (unsigned long)s[0];
    is_int(settle(read_it, 2000000000u, -EINTR), -EAGAIN,
           "read of a socket past its receive timeout returns EAGAIN");
    write_it.args[0] = (unsigned long)s[0];
    results[0] = 100;
    is_int(settle(write_it, 2000000000u, -EINTR), 100,
           "write to a socket ignores the receive timeout");

    write_it.args[0] = (unsigned long)p[1];
    results[0] = 30, results[1] = 60;
    is_int(settle(write_it, 0, 10), 100, "a partial write to a pipe is completed");
    ok(made == 2 && last.args[1] == 1040 && last.args[2] == 60,
       "a partial write continues where it ended");
    results[0] = -EAGAIN;
    is_int(settle(write_it, 0, 10), 10,
           "a partial write that would block returns what was written");
    results[0] = 30;
    heard_at = 1;
    is_int(settle(write_it, 0, 10), 40,
           "a handled signal ends a partial write with what was written");
    heard_at = 0;
    is_int(settle(write_it, 0, 100), 100, "a complete write is not repeated");
    write_it.number = SYS_writev;
    settle(write_it, 0, 10);
    is_int(made, 0, "a partial writev is not completed");
    control.handled = 0;
    write_it.number = SYS_connect;
    write_it.args[0] = (unsigned long)s[0];
    results[0] = 0;
    is_int(settle(write_it, 0, -EINTR), 0, "connect is repeated after EINTR");
    setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    is_int(settle(write_it, 2000000000u, -EINTR), -EINPROGRESS,
           "connect past its send timeout returns EINPROGRESS");
    write_it.number = SYS_poll;
    is_int(settle(write_it, 0, -EINTR), -EINTR, "poll keeps its EINTR");
    is_int(eintr_retry_kind(SYS_futex), 0, "futex is not settled");
}

/* Writes to sockets: bytes of the first attempt, and of the next one. */
static void test_sockets(void)
{
    int s[2];
    struct timeval second = {1, 0};
    struct patch_call call = {.number = SYS_write, .args = {0, 1000, 100, 7, 7, 7}};
    struct patch_call sent = {.number = SYS_sendto, .args = {0, 1000, 100, MSG_MORE, 5000, 16}};

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, s) < 0) {
        ok(false, "a socket pair is made");
        return;
    }
    call.args[0] = sent.args[0] = (unsigned long)s[0];
    results[0] = 90;
    is_int(settle(call, 0, 10), 100, "a partial write to a socket is completed");
    ok(last.number == SYS_sendto && last.args[1] == 1010 && last.args[2] == 90 &&
           last.args[3] == MSG_NOSIGNAL && !last.args[4] && !last.args[5],
       "the rest of a socket's write is sent without SIGPIPE");
    settle(sent, 0, 10);
    ok(last.number == SYS_sendto && last.args[3] == (MSG_MORE | MSG_NOSIGNAL) &&
           last.args[4] == 5000 && last.args[5] == 16,
       "the rest of a sendto has its flags and its address");
    results[0] = -EPIPE;
    is_int(settle(call, 0, 10), 10, "an error of the rest is not returned to the program");
    sent.args[3] = MSG_DONTWAIT;
    settle(sent, 0, 10);
    is_int(made, 0, "a sendto with MSG_DONTWAIT is not completed");
    fcntl(s[0], F_SETFL, O_NONBLOCK);
    settle(call, 0, 10);
    is_int(made, 0, "a write to a non-blocking socket is not completed");
    fcntl(s[0], F_SETFL, 0);
    setsockopt(s[0], SOL_SOCKET, SO_SNDTIMEO, &second, sizeof second);
    settle(call, 1000000000u, 10);
    is_int(made, 0, "a write past the send timeout is not completed");
    close(s[1]);
    is_int(settle(call, 0, 10), 10, "a write to a closed peer returns what was written");
    is_int(made, 0, "a write to a closed peer is not completed, as it would raise a signal");
    close(s[0]);
    settle(call, 0, 10);
    is_int(made, 0, "a write to a closed descriptor is not completed");
}

int main(void)
{
    test_epoll();
    test_sockets();
    test_files();
    return done_testing();
}
