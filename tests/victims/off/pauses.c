/*
 * pauses: naps for a millisecond again and again until standard input ends, then prints the
 * longest time between two naps' ends, in microseconds, and the longest without what this thread
 * waited for a CPU, as far as the kernel knows. Prints "ready" first.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

/* How long this thread has waited for a CPU. */
static long long delayed_us(int schedstat)
{
    char text[96], *at = text;
    ssize_t len = pread(schedstat, text, sizeof text - 1, 0);

    if (len <= 0)
        return 0;
    text[len] = '\0';
    strtoll(at, &at, 10);
    return strtoll(at, NULL, 10) / 1000;
}

int main(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    int schedstat = open("/proc/thread-self/schedstat", O_RDONLY);
    long long last, delayed, longest = 0, longest_off = 0;

    puts("ready");
    fflush(stdout);
    delayed = delayed_us(schedstat);
    for (last = now_us(); poll(&in, 1, 1) == 0;) {
        long long now = now_us(), by_now = delayed_us(schedstat);
        long long off = now - last - (by_now - delayed);

        if (now - last > longest)
            longest = now - last;
        if (off > longest_off)
            longest_off = off;
        last = now;
        delayed = by_now;
    }
    printf("%lld %lld\n", longest, longest_off);
    return 0;
}
