/* alternates: sleeps shortly, by one call and by another in turn. */
#define _GNU_SOURCE
#include <poll.h>
#include <stddef.h>
#include <time.h>

int main(void)
{
    const struct timespec nap = {.tv_nsec = 200000};

    for (int i = 0; i < 3000; i++) {
        nanosleep(&nap, NULL);
        ppoll(NULL, 0, &nap, NULL);
    }
    return 0;
}
