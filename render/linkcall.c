#include "render/linkcall.h"

static bool is_waker(const struct frametree_name *n)
{
    return n->len > 4 && memcmp(n->s + n->len - 4, "_[w]", 4) == 0;
}

static bool is_separator(const struct frametree_name *n)
{
    return n->len == 2 && memcmp(n->s, "--", 2) == 0;
}

static bool has_brackets(const struct frametree *t, uint32_t node)
{
    const struct frametree_name *n = frametree_name(t, node);

    return n->len && n->s[0] == '[';
}

/* A call that something has ended has a function behind it and the thread's name. A thread that has
 * a frame of its own (--tid) has two frames, and "[page fault];app-17;app" no call. */
#define ENDED_LEAST 4

uint32_t linkcall_of(const struct frametree *t, uint32_t node)
{
    uint32_t first = node, second = node, frames = 1;

    if (!is_waker(frametree_name(t, node)))
        return node;
    for (uint32_t up = t->nodes[node].parent; !is_separator(frametree_name(t, up)); frames++) {
        if (!up)
            return node;
        second = first;
        first = up;
        up = t->nodes[up].parent;
    }
    return has_brackets(t, first) && frames >= ENDED_LEAST && !has_brackets(t, second) ? second
                                                                                       : first;
}
