/*
 * frametree.h: all stacks of a folded text merged into one tree.
 *
 * Node 0 is the root ("all"); every other node is a frame under its parent,
 * one node for each distinct path. Build with frametree_init, frametree_add for
 * each line in any order, frametree_finish; only then are totals and the order
 * of siblings (bytewise by name) valid. Nodes are numbers below t->n, parents
 * come before their children, so totals and walks need no recursion and a stack
 * a million frames deep does no harm.
 *
 * Counts are exact to 64 bits; a sum beyond that stays at UINT64_MAX and sets
 * t->saturated. Fractions and differences cost memory only when there are any.
 *
 * Ownership: the tree copies what it is given. Memory runs out as in strbuf.h.
 * Not thread-safe for one tree while it is built; afterwards it is read-only.
 */
#ifndef FLAME_RENDER_FRAMETREE_H
#define FLAME_RENDER_FRAMETREE_H

#include "common/folded.h"

#define FRAMETREE_NONE UINT32_MAX

struct frametree_node {
    uint32_t name;   /* in t->names */
    uint32_t parent; /* the root's is FRAMETREE_NONE */
    uint32_t first;  /* first child or FRAMETREE_NONE */
    uint32_t next;   /* next sibling or FRAMETREE_NONE */
    uint64_t self;
    uint64_t total; /* self and all below; after frametree_finish */
};

struct frametree_name {
    const char *s; /* not NUL-terminated, any bytes but ';' and newline */
    uint32_t len;
    uint32_t rank; /* place among all names in bytewise order; after frametree_finish */
};

struct frametree_builder;

struct frametree {
    struct frametree_node *nodes;
    uint32_t n;
    struct frametree_name *names; /* names[0] is the root's, "all" */
    uint32_t nnames;
    /* The modules that names lie in, after frametree_split_modules: see frametree_module. */
    struct frametree_name *modules; /* [0] is none */
    uint32_t nmodules;
    uint32_t *module_of; /* by name; NULL: the input has no modules */
    uint32_t nmodule_of;
    double *self_part, *total_part; /* fractions, by node; NULL when there are none */
    double *delta; /* second minus first count, by node; NULL without differential lines */
    /* Self counts before and after, by node, whatever is drawn; NULL before difference_apply. */
    double *was, *now;
    double *lost;  /* of an elided view by node: counts before of callees that are gone */
    uint8_t *role; /* enum difference_role by node, of an elided view; else NULL */
    /* Self counts of further columns, by node; columns[0] is the second column. */
    double **columns;
    uint32_t ncolumns; /* without the first */
    bool saturated;
    struct frametree_builder *b; /* NULL after frametree_finish */
    void *arena;
};

/* With `reverse` stacks are merged from the leaf: a frame's children are its callers. */
void frametree_init(struct frametree *t, bool reverse);
/*
 * Keeps the order of lines, as in a flame chart; call it before the first line. A line
 * shares frames only with the one before it, and siblings stay in the order they came in.
 */
void frametree_keep_order(struct frametree *t);
/* Names are taken to be in the encoding `from` (iconv's names) and become UTF-8. 0, or -errno. */
int frametree_recode(struct frametree *t, const char *from);
/* 0, or -EOVERFLOW when the tree has no room for more nodes (2^31). */
int frametree_add(struct frametree *t, const struct folded_line *line);
/* The node of that stack, without adding a count. 0 or -EOVERFLOW, as above. */
int frametree_place(struct frametree *t, const char *stack, size_t len, uint32_t *node);
/*
 * Counts lines added from now on in `column`: 0 is the column of self, total and the
 * pictures, the others are in t->columns. All share the tree, so a node's count may be 0
 * in some.
 */
void frametree_use_column(struct frametree *t, uint32_t column);
void frametree_finish(struct frametree *t);
void frametree_release(struct frametree *t);

struct folded_count frametree_self(const struct frametree *t, uint32_t node);
struct folded_count frametree_total(const struct frametree *t, uint32_t node);

static inline const struct frametree_name *frametree_name(const struct frametree *t, uint32_t node)
{
    return &t->names[t->nodes[node].name];
}

/* The module that a name lies in, without its directory; NULL: not known, or in none. */
static inline const struct frametree_name *frametree_module(const struct frametree *t,
                                                            uint32_t name)
{
    uint32_t m = t->module_of && name < t->nmodule_of ? t->module_of[name] : 0;

    return m ? &t->modules[m] : NULL;
}

/*
 * Pre-order walk without recursion: the node after `node`, whose subtree is left
 * out when `descend` is false; FRAMETREE_NONE at the end. *depth follows along
 * (0 for the root).
 */
uint32_t frametree_next(const struct frametree *t, uint32_t node, bool descend, uint32_t *depth);

#endif
