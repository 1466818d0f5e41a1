/*
 * gen_folded.c: folded stacks as a large program's profile has them.
 *
 *     gen_folded STACKS [SEED] >out.folded
 *
 * Prints STACKS different stacks, the same for the same seed. Each is about 900
 * bytes long, 32 frames deep, and shares all but 11 or so with some other, as in
 * profiles of compilers and browsers: 27053 stacks are 25 MB of text and 303,000
 * different frames; a million stacks are 0.9 GB.
 *
 * A function calls one of a few others, chosen by its own number, so the same functions occur all
 * over the tree. Every stack starts with a random part of the one before it and continues from
 * there. Duplicates are dropped.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define FUNCTIONS 9000u
#define MAX_DEPTH 96u

static uint64_t state;

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t draw(uint32_t n)
{
    state += 0x9e3779b97f4a7c15u;
    return (uint32_t)(mix(state) % n);
}

/* 10 to 50 characters, mostly C++ with some C in it. */
static void print_name(uint32_t f)
{
    static const char *const spaces[] = {"std",   "gfx",    "js",   "net::http", "ir::pass",
                                         "store", "layout", "base", "media",     "core::util"};
    static const char *const things[] = {"Vector", "Node",  "Builder", "Context", "StreamReader",
                                         "Map",    "Frame", "Visitor", "Arena",   "Scheduler"};
    static const char *const verbs[] = {"push",  "visit", "emit",    "parse", "grow",
                                        "flush", "find",  "resolve", "merge", "insert"};
    uint64_t h = mix(f + 1);
    const char *space = spaces[h % 10], *thing = things[h / 10 % 10], *verb = verbs[h / 100 % 10];

    if (h / 1000 % 4 == 0)
        printf("%s_%s_%" PRIu32, verb, thing, f);
    else if (h / 1000 % 4 == 1)
        printf("%s::%s::%s%" PRIu32, space, thing, verb, f);
    else
        printf("%s::%s<T%" PRIu32 ">::%s(int)", space, thing, f, verb);
}

int main(int argc, char **argv)
{
    size_t stacks = argc > 1 ? strtoul(argv[1], NULL, 10) : 0, size = 64;
    uint32_t stack[MAX_DEPTH], depth = 0;
    uint64_t *seen;

    if (stacks == 0) {
        fprintf(stderr, "usage: gen_folded STACKS [SEED]\n");
        return 2;
    }
    state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    while (size < 2 * stacks)
        size *= 2;
    seen = calloc(size, sizeof *seen);
    if (!seen)
        return 1;
    for (size_t done = 0; done < stacks;) {
        uint32_t back = 1 + draw(15), want = depth + draw(17);
        uint64_t hash = 0;
        size_t at;

        want = want < 26 ? 18 : want > 50 ? 42 : want - 8;
        depth = depth > back + 2 ? depth - back : 2;
        stack[0] = 0;
        stack[1] = 1 + draw(3);
        while (depth < want) {
            stack[depth] = (uint32_t)(mix(stack[depth - 1] * 8u + draw(8)) % FUNCTIONS);
            depth++;
        }
        for (uint32_t i = 0; i < depth; i++)
            hash = mix(hash ^ (stack[i] + 1));
        for (at = hash % size; seen[at] && seen[at] != hash; at = (at + 1) % size)
            ;
        if (seen[at] == hash)
            continue;
        seen[at] = hash;
        for (uint32_t i = 0; i < depth; i++) {
            if (i)
                putchar(';');
            print_name(stack[i]);
        }
        printf(" %" PRIu32 "\n", 1 + (draw(20) ? draw(20) : draw(3000)));
        done++;
    }
    free(seen);
    return 0;
}
