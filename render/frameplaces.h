/*
 * frameplaces.h: groups of a tree's frames for tables: their module, their file or line, or the
 * thread or process of their stacks.
 *
 * A frame's name gives its place, or for threads and processes the name of the frame at the
 * stack's root. Where the input has the modules of names (frametree_module), frames without one
 * are the recorder's own, "[anonymous memory]", a system call: these count where the nearest
 * caller with a place does, and a stack without any place in FRAMEPLACES_UNKNOWN. Where the
 * input has no modules, places are read from names by the rules of fold/stacks/place.h, and a
 * frame whose name has no place is in FRAMEPLACES_UNKNOWN.
 *
 * The tree is borrowed. Read-only once made, and may then be used by several threads.
 */
#ifndef FLAME_RENDER_FRAMEPLACES_H
#define FLAME_RENDER_FRAMEPLACES_H

#include "fold/stacks/stackset.h"
#include "render/frametree.h"

enum frameplace {
    FRAMEPLACE_FUNCTION, /* no grouping */
    FRAMEPLACE_MODULE,
    FRAMEPLACE_FILE,
    FRAMEPLACE_LINE,
    FRAMEPLACE_THREAD,
    FRAMEPLACE_PROCESS,
    FRAMEPLACES,
};

/* The name of a grouping in options and pages: "module". */
const char *frameplace_name(enum frameplace kind);

/* The number of the group of frames without a known place. */
#define FRAMEPLACES_UNKNOWN 0

struct frameplaces {
    const struct frametree *t;
    bool known;       /* some frame is in a place that is not FRAMEPLACES_UNKNOWN */
    uint32_t depth;   /* only frames that deep count, the root's callees being 1; 0: all do */
    uint32_t n;       /* places, with the unknown one */
    uint32_t *of;     /* by name: its place, plus one; 0: none of its own */
    uint32_t *called; /* by place: the name of the tree that names it; 0: its own text */
    struct stackset *texts;
};

/*
 * `view` is the first column's, as the input has it, or NULL. With it the root frame is known to
 * be the program, or for waiting the thread's name, as flame's own recorders have it.
 */
void frameplaces_make(struct frameplaces *p, const struct frametree *t, enum frameplace kind,
                      const char *view);
void frameplaces_release(struct frameplaces *p);

/* The name of a place; any bytes, borrowed. */
const char *frameplaces_text(const struct frameplaces *p, uint32_t place, size_t *len);

/* The place of a frame of that name and depth itself, plus one; 0: it has none of its own. */
static inline uint32_t frameplaces_own(const struct frameplaces *p, uint32_t name, uint32_t depth)
{
    return p->depth && p->depth != depth ? 0 : p->of[name];
}

#endif
