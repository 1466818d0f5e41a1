/*
 * A test of lists. With the argument "leaky" it forgets to free one, which nothing but flame leak
 * notices.
 */
#include <stdio.h>
#include <string.h>

#include "list.h"

static struct list *volatile made;

int main(int argc, char **argv)
{
    made = list_push(list_push(NULL, "world"), "hello");
    if (!made)
        return 1;
    if (argc < 2 || strcmp(argv[1], "leaky"))
        list_free(made);
    made = NULL;
    puts("ok");
    return 0;
}
