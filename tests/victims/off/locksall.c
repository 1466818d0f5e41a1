/*
 * A program that locks all its memory, and says whether more than 64 MiB of it are resident then.
 * 77: it may not.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>

int main(void)
{
    struct rusage usage;

    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return 77;
    getrusage(RUSAGE_SELF, &usage);
    puts(usage.ru_maxrss > 64 << 10 ? "much" : "little");
    return 0;
}
