/*
 * leaps.c A B: allocates A calls deep, then B calls deeper without an allocation in between, and
 * again on the way back; both blocks stay.
 */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;

__attribute__((noinline)) static int further(int n)
{
    int r;

    if (n == 0) {
        kept = malloc(100);
        return 0;
    }
    r = further(n - 1) + 1;
    __asm__ volatile("");
    return r;
}

__attribute__((noinline)) static int down(int n, int more)
{
    int r;

    if (n == 0) {
        kept = malloc(10);
        r = further(more);
        kept = malloc(1);
        return r;
    }
    r = down(n - 1, more) + 1;
    __asm__ volatile("");
    return r;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 1;
    printf("%d\n", down(atoi(argv[1]), atoi(argv[2])));
    return 0;
}
