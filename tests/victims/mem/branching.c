/*
 * Allocates a byte and frees it at the end of each of 2^N stacks of N frames: a few bytes are
 * never exceeded, and a recorder has as many stacks to know.
 *
 *   branching N       calls in two places of one function, N deep
 */
#include <stdlib.h>

static volatile int done;
static void *volatile kept;

__attribute__((noinline)) static void branch(int deep) // NOLINT(misc-no-recursion)
{
    if (!deep) {
        kept = malloc(1);
        free(kept);
        return;
    }
    branch(deep - 1);
    done++;
    branch(deep - 1);
    done++;
}

int main(int argc, char **argv)
{
    branch(argc > 1 ? atoi(argv[1]) : 18);
    return 0;
}
