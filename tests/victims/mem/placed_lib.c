/* A library whose function TAKE allocates through another, which is called alike in each of them.
 */
#include <stdlib.h>

__attribute__((noinline)) static void *helper(size_t size)
{
    void *p = malloc(size);

    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}

void *TAKE(size_t size);
void *TAKE(size_t size)
{
    void *p = helper(size);

    __asm__ volatile("" : : "r"(p) : "memory");
    return p;
}
