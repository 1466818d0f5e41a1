/*
 * threads.h: the recorder's state of each thread of the program.
 *
 * A thread_state is written by its thread alone; values that other threads read (live bytes) lie in
 * the trace's thread record. States are never freed: a thread may still free memory in its very
 * last destructors, so no moment is certain to be its end. Once THREADS_OWN states exist, a new
 * thread examines a few of them, and takes over one whose thread has ended (the trace counts such
 * reuse).
 */
#ifndef FLAME_PRELOAD_THREADS_H
#define FLAME_PRELOAD_THREADS_H

#include "preload/guard.h"
#include "preload/sidetables/sampler.h"
#include "preload/store/stacks.h"
#include "unwind/local.h"
#include "preload/runtime/placing.h"

#define THREADS_OWN 256

/* Table from a node, or an ancestor's row, to the row in which this thread counts frees of
 * blocks that it has not allocated. */
struct far_table {
    struct far_entry {
        uint32_t key, row; /* key 0: the entry is free */
    } * entries;
    uint32_t mask, used;
};

/* Mappings that wait for their row: the stack is walked when the allocator has returned. */
#define THREADS_SERVED 4
struct served {
    uint32_t n;
    struct {
        uintptr_t lo, hi;
        uint64_t call; /* from preload/mapping/map_ranges.h */
    } mapping[THREADS_SERVED];
};

struct thread_state {
    uint16_t id; /* id of the trace's thread record */
    uint32_t tid;
    uint32_t epoch; /* of the stack that was interned last */
    int *errno_at;  /* address of the thread's errno, found once */
    struct trace_thread *record;
    struct sampler sampler; /* in use when blocks are sampled */
    struct stack_table stacks;
    struct far_table far;       /* by node: of other threads' blocks */
    struct far_table inherited; /* by the ancestor's row: of blocks from before the fork */
    struct local_stack stack;   /* the last stack walked */
    struct pythread *python;    /* (preload/python/pystacks.c); NULL: it has run no Python yet */
    bool unmarkable;      /* a stack with the functions of Python that now run must not be marked */
    bool within;          /* the walk begins within the C library, so it must not load libunwind */
    struct served served; /* mappings that an allocator made in the present call */
    struct truncation cut;
    struct placing placing;
    struct id_chunk rows;
    int64_t peak_since;    /* live bytes below which no new maximum is possible */
    uintptr_t last_block;  /* the thread's newest block, for temporaries; 0: none */
    uint32_t region;       /* the thread's newest region (preload/sidetables/regions.h); 0: none */
    uint32_t paused;       /* depth of pauses; above 0 allocations are not counted
                            * (preload/sidetables/pausedblocks.h) */
    uint64_t allocated;    /* bytes not yet passed on to the clock of lifetimes */
    struct tags *tags;     /* (preload/tags.h); NULL: the thread has never had one */
    uint32_t tag;          /* node of the newest tag; 0: it has none */
    uint32_t lost_tags;    /* number of tags pushed since there was no room for one */
    uint32_t lost_regions; /* number of regions begun since too many were open */
    uintptr_t operator_at; /* frame of the outermost operator new; 0: none. After an exception it
                              stays until the next one */
    struct taking {
        uintptr_t p; /* argument of the running operator delete; 0: none */
        uint64_t size_arg;
        const uintptr_t *caller;
        uint32_t call; /* enum trace_call */
    } taking;
    /* First memory of stack and stacks: a thread of few calls needs no more than two pages with
     * the rest of its state. */
    struct local_small small_stack;
    struct stack_small small_stacks;
};

#define THREADS_OPERATOR_REACH ((uintptr_t)1 << 20)

/* Whether an operator new whose frame is known seems to be what called the calling function. */
static inline bool threads_in_operator(const struct thread_state *t)
{
    return t->operator_at - (uintptr_t)__builtin_frame_address(0) < THREADS_OPERATOR_REACH;
}

/*
 * The calling thread's state, made on its first event. NULL when there is no
 * memory, no room in the trace, or no id left.
 */
struct thread_state *threads_self(void);

/* Number of thread records; their ids run from TRACE_THREAD_FIRST_SLOT. */
uint32_t threads_count(void);

/* Sum of the live bytes of all threads. */
int64_t threads_live_bytes(void);

/* Sets the depth limit, for states made from now on. */
void threads_set_depth(uint32_t depth);
uint32_t threads_depth(void);

/* Sets the sampling period in bytes, for states made from now on. 0: no sampling. */
void threads_set_sample(uint64_t period);

/* Records the calling thread's new name (at most 15 bytes are kept). */
void threads_note_name(const char *name);

/* The calling thread's id, even if the kernel may not be asked. */
uint32_t threads_own_tid(void);

/* Finds the place in a control block where the C library stores a thread's id. `own`: the calling
 * thread's id (0: not known). */
void threads_learn_ids(uint32_t own);

/* To be called before the process enters a sandbox: learns facts that threads which begin in it
 * will not be able to ask for. */
void threads_before_sandbox(void);

/* Removes the state of every thread, so that nothing is recorded any more. */
void threads_give_up(void);

/* To be called in a forked child while the store still has the parent's trace: the calling
 * thread is the only one, and has recorded nothing yet. */
void threads_after_fork(void);

/* The row in which this thread counts frees of another thread's stack `node`; 0 if there is no
 * room. */
uint32_t threads_remote_free_row(struct thread_state *t, uint32_t node);

/* The row in which this thread counts frees of blocks that were inherited with `row`. `addr`:
 * address of the TRACE_NODE_INHERITED for their stack. 0 if there is no room. */
uint32_t threads_inherited_row(struct thread_state *t, uint32_t row, uint64_t addr);

/* A new row of this thread for `node`; 0 if the trace is full. */
uint32_t threads_new_row(struct thread_state *t, uint32_t node, uint16_t flags);

#endif
