/* Trees of who keeps what, of small graphs with known answers. */
#include "fold/kept/keepers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "fold/kept/levels.h"
#include "tests/tap.h"

/* Roots: h is a heading, a and b stand on it, s is a stack. Blocks and sites have small letters:
 * "a: p q" is a root or block a that leads to p and q; "q'" to the inside of q. Blocks have 1, 2, 4
 * and so on bytes in the order of the alphabet, from m on; their sites are by `sites`. */
static const char roots[] = "habs";

static uint32_t node_of(char c)
{
    const char *root = strchr(roots, c);

    return root ? (uint32_t)(root - roots) + 1 : (uint32_t)(c - 'm') + 5;
}

static void add_name(struct strbuf *sb, const struct keepers *k, uint32_t at)
{
    const struct keepers_node *n = &k->node[at];

    if (n->parent)
        add_name(sb, k, n->parent);
    if (n->parent)
        strbuf_addch(sb, ';');
    if (n->is_root) {
        strbuf_addch(sb, roots[n->name]);
    } else if (n->name & KEEPERS_ALSO) {
        const struct keepers_also *a = &k->also[n->name & ~KEEPERS_ALSO];

        strbuf_addstr(sb, "[also ");
        for (uint32_t i = 0; i < a->n; i++)
            strbuf_addch(sb, roots[a->root[i] - 1]);
        strbuf_addstr(sb, a->more ? "+]" : "]");
    } else {
        strbuf_addch(sb, (char)n->name);
    }
}

static char *tree_of(const char *edges, const char *sites)
{
    static const uint32_t parent[5] = {0, 0, 1, 1, 0}, names[5] = {0, 0, 1, 2, 3};
    static const uint8_t level[5] = {0, 0, 0, 0, HEAPGRAPH_STACK};
    static const bool heading[5] = {false, true};
    uint32_t nblocks = (uint32_t)strlen(sites), at[64], to[256], site[64], n = 0;
    uint64_t size[64];
    struct heapgraph g = {.nroots = 4,
                          .nblocks = nblocks,
                          .parent = parent,
                          .root_level = level,
                          .size = size,
                          .edges_at = at,
                          .edges = to};
    struct keepers_input in = {.g = &g, .root_name = names, .is_heading = heading, .site = site};
    struct dominators d;
    struct keepers k;
    struct strbuf sb = STRBUF_INIT;

    for (uint32_t v = 0; v <= 4 + nblocks; v++) {
        at[v] = n;
        if (v > 4) {
            size[v - 5] = (uint64_t)1 << (v - 5);
            site[v - 5] = (uint32_t)sites[v - 5];
        }
        for (const char *p = edges; *p; p++) {
            if (p[1] != ':' || node_of(*p) != v)
                continue;
            for (p += 2; *p && *p != '\n'; p++)
                if (*p == '\'')
                    to[n - 1] |= HEAPGRAPH_INSIDE;
                else if (*p != ' ')
                    to[n++] = node_of(*p);
            if (!*p)
                break;
        }
    }
    at[5 + nblocks] = n;
    in.levels = levels_find(&g);
    dominators_find(&d, &g, in.levels);
    in.d = &d;
    keepers_find(&k, &in);
    for (uint32_t i = 1; i < k.n; i++)
        if (k.node[i].blocks) {
            add_name(&sb, &k, i);
            strbuf_addf(&sb, " %" PRIu64 "\n", k.node[i].bytes);
        }
    if (k.unreached_blocks)
        strbuf_addf(&sb, "- %" PRIu64 "\n", k.unreached_bytes);
    keepers_release(&k);
    dominators_release(&d);
    free((void *)in.levels);
    return strbuf_detach(&sb, NULL);
}

static void is_kept(const char *edges, const char *sites, const char *want, const char *what)
{
    char *got = tree_of(edges, sites);

    is_str(got, want, "%s", what);
    free(got);
}

int main(void)
{
    is_kept("a:m\nm:n\nn:o\n", "xyz", "h;a;x 1\nh;a;x;y 2\nh;a;x;y;z 4\n", "a chain of blocks");
    is_kept("a:m\nm:n\nn:o\no:p\n", "xxxy", "h;a;x 7\nh;a;x;y 8\n", "a list is one frame");
    is_kept("a:m\nm:n o\nn:m p\no:m\n", "xyxy", "h;a;x 5\nh;a;x;y 10\n",
            "a site on the way is not repeated, and pointers back change nothing");
    is_kept("a:m\nb:m\nm:n\n", "xy", "h;a;[also b];x 1\nh;a;[also b];x;y 2\n",
            "two variables keep a block and what it keeps");
    is_kept("a:m\nm:n\nb:n\nn:o\n", "xyz", "h;a;x 1\nh;b;[also a];y 2\nh;b;[also a];y;z 4\n",
            "a block stands on the nearest of its keepers");
    is_kept("a:m\nm:n\nb:o\no:n\n", "xxx", "h;a;x 1\nh;a;x;[also b];x 2\nh;b;x 4\n",
            "others keep a block, too, whose site is on the way");
    is_kept("a:m\ns:m n\nn:m\n", "xy", "h;a;x 1\ns;y 2\n",
            "a stack is no second keeper of what a variable keeps");
    is_kept("a:m\nb:n'\nm:n\n", "xy", "h;a;x 1\nh;a;x;y 2\n",
            "a pointer to the inside is no second keeper");
    is_kept("a:m'\ns:n'\nm:o\n", "xyzw", "h;a;x 1\nh;a;x;z 4\ns;y 2\n- 8\n",
            "insides keep what nothing else keeps, and what nothing keeps is counted");
    is_kept("a:m\nb:m n\nm:o\nn:o\no:p p\n", "xxyz",
            "h;a;[also b];x 1\nh;a;[also b];x;y 4\nh;a;[also b];x;y;z 8\nh;b;x 2\n",
            "joints upon joints");
    return done_testing();
}
