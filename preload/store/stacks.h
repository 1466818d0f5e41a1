/*
 * stacks.h: interning of stacks, one table a thread.
 *
 * A stack is a path in a tree of return addresses that starts at the thread's root node. The tree's
 * nodes go to the trace; the table that finds children stays in private memory. Only the owning
 * thread touches a table.
 */
#ifndef FLAME_PRELOAD_STORE_STACKS_H
#define FLAME_PRELOAD_STORE_STACKS_H

#include "preload/store/truncate.h"
#include "preload/store/store.h"

struct stack_entry {
    uint64_t pc;
    uint32_t parent; /* node id; 0: the slot is free */
    uint32_t node;
    uint32_t row;  /* the thread's counters for the stack that ends here; 0: none yet */
    uint32_t hash; /* of the path from the root */
};

struct stack_table {
    struct stack_small *small;
    struct stack_entry *entries;
    uint32_t mask, used;
    bool kept; /* the kernel does not copy the entries to forked children */
    struct id_chunk ids;
    uint32_t root; /* node */
    /* The last stack, root first: most of the next one is the same. */
    uint64_t *last_pc;
    struct stack_place {
        uint64_t hash;
        uint32_t node;
    } * last_place; /* parallel to last_pc, one further in: [0] is the root, or the base */
    uint32_t last_len, last_cap;
    struct stack_entry *last_entry; /* of the innermost frame; NULL when unknown */
};

/* Memory for the first stacks, enough for threads of few calls; then pages are taken. */
#define STACKS_SMALL_ENTRIES 64
#define STACKS_SMALL_FRAMES 28

struct stack_small {
    struct stack_entry entries[STACKS_SMALL_ENTRIES];
    struct stack_place place[STACKS_SMALL_FRAMES + 1];
    uint64_t pc[STACKS_SMALL_FRAMES];
};

/* `small`, all zero, is in use as long as *t is. */
void stacks_init(struct stack_table *t, struct stack_small *small);
void stacks_release(struct stack_table *t);

/* In a forked child: forgets all stacks, because their nodes are in the parent's trace. A root
 * must be set next, or the table be released. */
void stacks_restart(struct stack_table *t);

/* A new TRACE_NODE_INHERITED on the root; 0 when the trace is full. */
uint32_t stacks_inherited(struct stack_table *t, uint64_t addr);

/* A new node of `kind` above the stack `node`, of any thread; 0 when the trace is full. */
uint32_t stacks_above(struct stack_table *t, uint32_t node, uint64_t addr, uint32_t kind);

/* Starts a tree of its own under a new root; `addr` as TRACE_NODE_ROOT has it. */
bool stacks_set_root(struct stack_table *t, uint64_t addr);

/* From now on the outermost frames of stacks are children of `node` and not of the root; 0: of the
 * root again. */
void stacks_set_base(struct stack_table *t, uint32_t node);

/* Makes the next stack the first: forgets the last one, which is out of date. */
void stacks_forget_last(struct stack_table *t);

/*
 * Finds or adds the stack pcs[0..n), outermost first, n > 0. The first `same` of its frames are
 * known to be those of the previous call. `dropped`: number of frames that a STACK_TRUNCATED entry
 * replaces. An entry with STACK_NAME becomes a TRACE_NODE_NAME. The result is valid until the next
 * call. NULL when the trace or memory is full. Newly added nodes are reported to `added` (may be
 * NULL) before they can be seen in the trace.
 */
struct stack_entry *stacks_intern(struct stack_table *t, const uintptr_t *pcs, uint32_t n,
                                  uint32_t same, uint64_t dropped, void (*added)(uintptr_t pc));

#endif
