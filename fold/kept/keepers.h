/*
 * keepers.h: a tree of who keeps which blocks of a heap: roots, on them the sites whose blocks they
 * keep, on these the sites of what those blocks keep.
 *
 * A block stands on the nearest node that dominates it. Where that is a mere heading or the top,
 * several roots keep it: then it stands on the nearest of them, below a frame that names the
 * others. So the bytes of a frame that are not above such a frame would go with it. A site that is
 * on the way already, as in lists and trees, is not repeated.
 */
#ifndef FLAME_FOLD_KEPT_KEEPERS_H
#define FLAME_FOLD_KEPT_KEEPERS_H

#include "fold/kept/dominators.h"

/* All borrowed. Names are numbers of the caller's, below KEEPERS_ALSO. */
struct keepers_input {
    const struct heapgraph *g;
    const uint8_t *levels;
    const struct dominators *d;
    const uint32_t *root_name; /* by node; [0] is not used */
    const bool *is_heading;    /* by node: a root that keeps nothing itself */
    const uint32_t *site;      /* of each block, by number from 0: its site's name */
    const bool *uncounted;     /* of each block: it is in no sum; NULL: all of them are */
};

#define KEEPERS_ALSO 0x80000000u
#define KEEPERS_NAMED 3u

struct keepers_node {
    uint32_t parent; /* smaller; 0: the top, which is node 0 */
    uint32_t name;   /* of a root or a site; KEEPERS_ALSO: the number of an also */
    bool is_root;
    uint64_t bytes, blocks; /* its own */
};

/* Other roots that keep what stands on the frame. */
struct keepers_also {
    uint32_t root[KEEPERS_NAMED]; /* nodes of the graph, in rising order */
    uint32_t n;
    bool more; /* and further ones */
};

struct keepers {
    struct keepers_node *node;
    uint32_t n;
    struct keepers_also *also;
    uint32_t nalso;
    size_t room, also_room;
    uint64_t unreached_bytes, unreached_blocks; /* that no root leads to; they are in no node */
};

void keepers_find(struct keepers *k, const struct keepers_input *in);
void keepers_release(struct keepers *k);

#endif
