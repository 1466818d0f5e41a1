/* A shared object that allocates SIZE bytes in a function named NAME. */
#include <stdlib.h>

void *NAME(void);
void *NAME(void)
{
    void *p = malloc(SIZE);

    return (char *)p + 0 * (long)p;
}
