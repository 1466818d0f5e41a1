/*
 * hold COUNT SIZE: allocates COUNT blocks of SIZE bytes, writes to all of them and
 * ends with all of them live. What a recorder adds to the peak RSS of two COUNTs
 * says what it needs for a further live byte, apart from what it needs at all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 64;
    void **last = NULL;

    if (size < sizeof last)
        return 2;
    for (size_t i = 0; i < count; i++) {
        void **block = malloc(size);

        if (!block)
            return 1;
        memset(block, (int)i, size);
        *block = last;
        last = block;
    }
    printf("%zu\n", count * size);
    return last == NULL;
}
