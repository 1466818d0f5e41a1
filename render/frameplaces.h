/*
 * frameplaces.h: what a tree's frames are grouped by in tables: their module, their file or line,
 * or the thread or process that their stacks are of.
 *
 * A place is known by a frame's name, or of threads and processes by the name of the frame that
 * the stack stands on. Where the input tells the modules of names (frametree_module), frames
 * without one are the recorder's own, "[anonymous memory]", a system call: these count where the
 * nearest caller with a place does, and a stack in which none has any in FRAMEPLACES_UNKNOWN. Where
 * it does not, places are read from names by the rules of fold/stacks/place.h, and any frame whose
 * name tells none is in FRAMEPLACES_UNKNOWN.
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

/* "module", as options and pages call it. */
const char *frameplace_name(enum frameplace kind);

/* The number of what is in no place that is known. */
#define FRAMEPLACES_UNKNOWN 0

struct frameplaces {
    const struct frametree *t;
    bool known;       /* some frame is in a place that is not FRAMEPLACES_UNKNOWN */
    uint32_t depth;   /* only frames that deep count, the root's callees being 1; 0: all do */
    uint32_t n;       /* places, with the unknown one */
    uint32_t *of;     /* by name: its place, plus one; 0: none of its own */
    uint32_t *called; /* by place: the name of the tree it is called by; 0: its own text */
    struct stackset *texts;
};

/*
 * `view` is the first column's, as the input has it, or NULL: stacks of flame's own recorders
 * stand on their program, or of waiting on the name of their thread.
 */
void frameplaces_make(struct frameplaces *p, const struct frametree *t, enum frameplace kind,
                      const char *view);
void frameplaces_release(struct frameplaces *p);

/* What a place is called; any bytes, lent. */
const char *frameplaces_text(const struct frameplaces *p, uint32_t place, size_t *len);

/* The place of a frame of that name and depth itself, plus one; 0: it has none of its own. */
static inline uint32_t frameplaces_own(const struct frameplaces *p, uint32_t name, uint32_t depth)
{
    return p->depth && p->depth != depth ? 0 : p->of[name];
}

#endif
