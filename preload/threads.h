/*
 * threads.h: what the recorder keeps for each thread of the program.
 *
 * Everything in a thread_state is written by its thread alone; what other
 * threads read (live bytes) lies in the trace's thread record. States are never
 * freed: a thread may still free memory in its very last destructors, so there
 * is no moment that is surely the end. Once THREADS_OWN states exist, a new thread
 * looks at a few of them, and takes over one whose thread has died (the trace counts
 * such reuse).
 */
#ifndef FLAME_PRELOAD_THREADS_H
#define FLAME_PRELOAD_THREADS_H

#include "preload/guard.h"
#include "preload/watch/sampler.h"
#include "preload/stacks.h"
#include "unwind/local.h"
#include "preload/run/placing.h"

#define THREADS_OWN 256

/* What a row stands for -> row id, for rows of blocks that this thread has only freed. */
struct far_table {
    struct far_entry {
        uint32_t key, row; /* key 0: nothing here */
    } * entries;
    uint32_t mask, used;
};

/* Mappings that wait for their row: the stack is looked at when the allocator has come back. */
#define THREADS_SERVED 4
struct served {
    uint32_t n;
    struct {
        uintptr_t lo, hi;
        uint64_t call; /* preload/mapping/mapped.h numbers them */
    } mapping[THREADS_SERVED];
};

struct thread_state {
    uint16_t id; /* of the trace's thread record */
    uint32_t tid;
    uint32_t epoch; /* of the stack that was interned last */
    int *errno_at;  /* the thread's errno, without a call */
    struct trace_thread *record;
    struct sampler sampler; /* in use when blocks are sampled */
    struct stack_table stacks;
    struct far_table far;       /* by node: of other threads' blocks */
    struct far_table inherited; /* by the ancestor's row: of blocks from before the fork */
    struct local_stack stack;   /* the last one walked */
    struct pythread *python;    /* (preload/python/pystacks.c); NULL: it has met none */
    bool with_names;            /* the stack that was interned last had names of Python's */
    bool within;                /* this is a walk from the C library's inside: nothing is loaded */
    struct served served;       /* what an allocator has mapped in the call it is serving */
    struct cut cut;
    struct placing placing;
    struct id_chunk rows;
    int64_t peak_since;    /* live bytes below which no new maximum is looked for */
    uintptr_t last_block;  /* the thread's newest block, for temporaries; 0: none */
    uint32_t region;       /* its newest (preload/watch/regions.h); 0: none */
    uint32_t taken_region; /* of the block that record_take took last */
    uint32_t paused;    /* so often: what it allocates is left out (preload/watch/pausedblocks.h) */
    uint64_t allocated; /* bytes that the clock of lifetimes does not know of yet */
    uint64_t taken_birth;    /* of the block that was taken last (preload/watch/birthmap.h) */
    uint64_t taken_left_out; /* size of what record_take took last and was left out, and one */
    struct tags *tags;       /* (preload/tags.h); NULL: it never had one */
    uint32_t lost_tags;      /* pushed since there was no room for one */
    uint32_t lost_regions;   /* begun since, when too many were open */
    uintptr_t operator_at;   /* frame of the outermost operator new that is watched; 0: none. One
                                that an exception has left stays until the next */
    struct taking {
        uintptr_t p; /* what the operator delete that is watched was given; 0: none */
        uint64_t given;
        const uintptr_t *caller;
        uint32_t call; /* enum trace_call */
    } taking;
    /* What stack and stacks begin in: two pages with the rest are all that a thread of
     * few calls takes. */
    struct local_small small_stack;
    struct stack_small small_stacks;
};

#define THREADS_OPERATOR_REACH ((uintptr_t)1 << 20)

/* Whether a watched operator new has, as it seems, called the function that asks. */
static inline bool threads_in_operator(const struct thread_state *t)
{
    return t->operator_at - (uintptr_t)__builtin_frame_address(0) < THREADS_OPERATOR_REACH;
}

/*
 * The calling thread's state, made on its first event. NULL when there is no
 * memory, no room in the trace, or no id left.
 */
struct thread_state *threads_self(void);

/* How many thread records exist; their ids run from TRACE_THREAD_FIRST_SLOT. */
uint32_t threads_count(void);

/* Sum of live bytes over all threads. */
int64_t threads_live_bytes(void);

/* Sets the depth limit for states made from now on. */
void threads_set_depth(uint32_t depth);
uint32_t threads_depth(void);

/* Blocks are sampled every so many bytes, by states made from now on. 0: not. */
void threads_set_sample(uint64_t period);

/* The calling thread has been given this name (at most 15 bytes are kept). */
void threads_note_name(const char *name);

/* The calling thread's id, also where the kernel may not be asked. */
uint32_t threads_own_tid(void);

/* The calling thread's id is `own` (0: it is not known): learns where such ids are kept. */
void threads_learn_ids(uint32_t own);

/* The process is about to enter a sandbox: what threads that begin in it will not be
 * able to ask for is learned now. */
void threads_before_sandbox(void);

/* Takes the state of every thread away, so that nothing is recorded any more. */
void threads_give_up(void);

/* To be called in a forked child while the store still has the parent's trace: the calling
 * thread is the only one, and has recorded nothing yet. */
void threads_after_fork(void);

/* The row in which this thread counts frees of another thread's stack `node`;
 * 0 when there is no room. */
uint32_t threads_far_row(struct thread_state *t, uint32_t node);

/* The same for blocks inherited with `row`, whose stack a TRACE_NODE_INHERITED with this
 * address stands for. */
uint32_t threads_inherited_row(struct thread_state *t, uint32_t row, uint64_t addr);

/* A new row of this thread for `node`; 0 when the trace is full. */
uint32_t threads_new_row(struct thread_state *t, uint32_t node, uint16_t flags);

#endif
