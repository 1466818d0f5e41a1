/*
 * fakedclock.c: has a clock_gettime of its own, which other libraries call, too: it always
 * returns one time, a day ago. Keeps a block for 60 ms, waits 60 ms for a pipe, and says "fine".
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *ts)
{
    (void)clock;
    *ts = (struct timespec){.tv_sec = 86400};
    return 0;
}

int main(void)
{
    struct timespec t = {0, 60000000};
    void *volatile block = malloc(5000);
    int ends[2];
    char c;

    if (pipe(ends) != 0)
        return 1;
    if (fork() == 0) {
        nanosleep(&t, NULL);
        return write(ends[1], "x", 1) != 1;
    }
    if (read(ends[0], &c, 1) != 1)
        return 1;
    free(block);
    puts("fine");
    return 0;
}
