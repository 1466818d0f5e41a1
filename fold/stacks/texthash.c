#include "fold/stacks/texthash.h"

#include <sys/random.h>

uint64_t texthash_seed(void)
{
    static uint64_t seed;

    /* Without the kernel's help the tables still work, only predictably. */
    if (!seed && getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = 0x1234567;
    return seed;
}
