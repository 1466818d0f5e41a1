/* The library that test_pytest.py tests: build it as suite_pytest.so. */
#include <stdlib.h>

void good(void);
void leaky(void);

static void *volatile kept;

void good(void)
{
    free(malloc(600));
}

/* Several: what a register or a stack still points to is not lost. */
void leaky(void)
{
    for (int i = 0; i < 20; i++)
        kept = malloc(601);
    kept = NULL;
}
