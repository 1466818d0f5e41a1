/*
 * hostile.c: leaks in a function that is called what the test wants, as the file is when it is
 * compiled. The name here is a place for other bytes, as many.
 */
#include <stdlib.h>

static void *volatile sink;

__attribute__((noinline)) void hostile_________________________________________________(void)
{
    sink = malloc(77);
}

int main(void)
{
    hostile_________________________________________________();
    sink = NULL;
    return 0;
}
