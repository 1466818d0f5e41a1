/*
 * Memory by kind of request: a tag for each kind, and one for a part of its work.
 *
 *     cc -g -I PREFIX/include -o tags tags.c
 *     flame mem --view live -o tags.svg -- ./tags
 *
 * At the bottom of the picture are [tag: get] and [tag: put], and on the latter [tag: index].
 */
#include <stdio.h>
#include <stdlib.h>

#include "flamemem.h"

static void *cache[200];
static int cached;

static void store(size_t size)
{
    cache[cached++] = malloc(size);
}

static void get(void)
{
    flamemem_tag_push("get");
    store(100);
    flamemem_tag_pop();
}

static void put(void)
{
    flamemem_tag_push("put");
    store(1000);
    flamemem_tag_push("index");
    store(16);
    flamemem_tag_pop();
    flamemem_tag_pop();
}

int main(void)
{
    for (int i = 0; i < 50; i++) {
        get();
        put();
    }
    printf("%d blocks\n", cached);
    return 0;
}
