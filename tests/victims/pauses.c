/*
 * pauses: naps for a millisecond again and again until standard input ends, then prints the
 * longest time between two naps' ends, in microseconds. Says "ready" first.
 */
#include <poll.h>
#include <stdio.h>
#include <time.h>

static long long now_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

int main(void)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    long long last, longest = 0;

    puts("ready");
    fflush(stdout);
    for (last = now_us(); poll(&in, 1, 1) == 0;) {
        long long now = now_us();

        if (now - last > longest)
            longest = now - last;
        last = now;
    }
    printf("%lld\n", longest);
    return 0;
}
