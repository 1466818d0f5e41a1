/*
 * Tags of a thread. A tag's node is found again by the node below it and its name. So requests with
 * equal tags share their stacks, and the trace grows with different tags only.
 *
 * A cached stack is tied to the tag under which it was walked (local_set_context): a change of the
 * tag costs two table look-ups, and no cached stack is dropped. Contexts from LOCAL_CONTEXTS / 2 on
 * are those of chains of Python frames (preload/python/pystacks.c), in which the tag is.
 */
#include "preload/tags.h"

#include "common/pages.h"
#include "preload/store/user_names.h"
#include "preload/runtime/pairs.h"
#include "preload/threads.h"

struct tags {
    uint32_t deep; /* number of open tags */
    struct level {
        uint32_t node; /* 0: there is no room for the tag in this trace */
        char name[REGION_NAME_MAX];
    } levels[TAGS_DEEP];
    struct pairs nodes; /* by name and parent node */
};

/* The node of the tag `name` above `below`; 0: there is no room. */
static uint32_t node_for(struct thread_state *t, uint32_t below, const char *name)
{
    struct tags *s = t->tags;
    uint32_t number = user_names_number(name);
    uint32_t node;

    if (number == UINT32_MAX)
        return 0;
    node = pairs_find(&s->nodes, number, below);
    if (!node) {
        if (s->nodes.n >= TAGS_NODES || !pairs_make_room(&s->nodes) ||
            !(node = stacks_above(&t->stacks, below, number, TRACE_NODE_TAG)) ||
            node >= LOCAL_CONTEXTS / 2)
            return 0;
        pairs_add(&s->nodes, number, below, node);
    }
    __atomic_fetch_or(&store.writer.header->features, TRACE_FEATURE_TAGS, __ATOMIC_RELAXED);
    return node;
}

/* The node of the newest tag that has one; 0: none has. */
static uint32_t newest_node(const struct tags *s, uint32_t deep)
{
    while (deep && !s->levels[deep - 1].node)
        deep--;
    return deep ? s->levels[deep - 1].node : 0;
}

static void set_base(struct thread_state *t)
{
    t->tag = newest_node(t->tags, t->tags->deep);
    stacks_set_base(&t->stacks, t->tag);
    local_set_context(&t->stack, t->tag);
}

static bool add_node(struct thread_state *t, uint32_t level)
{
    struct level *l = &t->tags->levels[level];
    uint32_t below = newest_node(t->tags, level);

    l->node = node_for(t, below ? below : t->stacks.root, l->name);
    return l->node != 0;
}

static void keep_name(char *to, const char *name)
{
    size_t len;

    if (!name || !*name)
        name = "unnamed";
    len = strnlen(name, REGION_NAME_MAX - 1);
    memcpy(to, name, len);
    to[len] = '\0';
}

bool tags_push(struct thread_state *t, const char *name)
{
    struct tags *s = t->tags;
    bool ok;

    if (!s)
        s = t->tags = pages_alloc(sizeof *s);
    /* After one tag is lost, tags inside it are lost as well: tags end in the reverse order of
     * their beginnings. */
    if (!s || t->lost_tags || s->deep == TAGS_DEEP) {
        t->lost_tags++;
        return false;
    }
    keep_name(s->levels[s->deep].name, name);
    ok = add_node(t, s->deep++);
    set_base(t);
    return ok;
}

bool tags_pop(struct thread_state *t)
{
    if (t->lost_tags) {
        t->lost_tags--;
        return true;
    }
    if (!t->tags || !t->tags->deep)
        return false;
    t->tags->deep--;
    set_base(t);
    return true;
}

void tags_new_root(struct thread_state *t, bool fresh)
{
    if (!t->tags)
        return;
    if (fresh)
        pairs_release(&t->tags->nodes);
    for (uint32_t i = 0; i < t->tags->deep; i++)
        add_node(t, i);
    set_base(t);
}

void tags_drop(struct thread_state *t)
{
    t->lost_tags = 0;
    if (!t->tags || !t->tags->deep)
        return;
    t->tags->deep = 0;
    set_base(t);
}

void tags_release(struct thread_state *t)
{
    if (!t->tags)
        return;
    pairs_release(&t->tags->nodes);
    pages_free(t->tags, sizeof *t->tags);
    t->tags = NULL;
}
