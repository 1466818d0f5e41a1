/*
 * Prints on standard output the folded stacks (from main on, bytes allocated,
 * then live, then peak) that a recorder must find for its own calls.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline, noclone))

static void *keep[64];
static volatile int sink;

PLAIN static void *leaf(size_t n)
{
    void *p = malloc(n);

    sink++;
    return p;
}

PLAIN static void left(void)
{
    for (int i = 0; i < 10; i++)
        keep[i] = leaf(100);
    sink++;
}

PLAIN static void right(void)
{
    for (int i = 0; i < 5; i++)
        keep[10 + i] = leaf(1000);
    sink++;
}

PLAIN static void again(int depth)
{
    if (depth)
        again(depth - 1);
    else
        keep[20] = calloc(7, 11);
    sink++;
}

PLAIN static void spike(void)
{
    void *p = malloc(50000);

    free(p);
    sink++;
}

PLAIN static void drop_right(void)
{
    for (int i = 0; i < 5; i++)
        free(keep[10 + i]);
    sink++;
}

int main(void)
{
    left();
    right();
    again(3);
    spike();
    drop_right();
    static const char expected[] = "alloc main;again;again;again;again 77\n"
                                   "alloc main;left;leaf 1000\n"
                                   "alloc main;right;leaf 5000\n"
                                   "alloc main;spike 50000\n"
                                   "count main;again;again;again;again 1\n"
                                   "count main;left;leaf 10\n"
                                   "count main;right;leaf 5\n"
                                   "count main;spike 1\n"
                                   "live main;again;again;again;again 77\n"
                                   "live main;left;leaf 1000\n"
                                   "peak main;again;again;again;again 77\n"
                                   "peak main;left;leaf 1000\n"
                                   "peak main;right;leaf 5000\n"
                                   "peak main;spike 50000\n"
                                   "temp main;spike 1\n";

    return write(1, expected, sizeof expected - 1) < 0;
}
