/* Allocates 24 bytes at the bottom of argv[1] recursive calls. */
#include <stdio.h>
#include <stdlib.h>

static void *volatile kept;
static volatile int sink;

__attribute__((noinline, noclone)) static void bottom(void)
{
    kept = malloc(24);
    sink++;
}

__attribute__((noinline, noclone)) static void down(int n)
{
    if (n > 1)
        down(n - 1);
    else
        bottom();
    sink++;
}

__attribute__((noinline, noclone)) static void entrance(int n)
{
    down(n);
    sink++;
}

int main(int argc, char **argv)
{
    entrance(argc > 1 ? atoi(argv[1]) : 100);
    return 0;
}
