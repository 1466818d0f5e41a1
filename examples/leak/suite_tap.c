#include <stdlib.h>

#include "flamemem_tap.h"

static void *volatile kept;

static int good(void)
{
    free(malloc(500));
    return 1;
}

static int leaky(void)
{
    kept = malloc(501);
    kept = NULL;
    return 1;
}

static int good_again(void)
{
    free(malloc(502));
    return 1;
}

int main(void)
{
    flamemem_tap("good", good);
    flamemem_tap("leaky", leaky);
    flamemem_tap("good again", good_again);
    return flamemem_tap_end();
}
