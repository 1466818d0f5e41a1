/*
 * threads.h: what the recorder keeps for each thread of the program.
 *
 * Everything in a thread_state is written by its thread alone; what other
 * threads read (live bytes) lies in the trace's thread record. States are never
 * freed: a thread may still free memory in its very last destructors, so there
 * is no moment that is surely the end. A state whose thread has died is given to
 * a new thread once THREADS_OWN states exist (the trace counts such reuse).
 */
#ifndef FLAME_PRELOAD_THREADS_H
#define FLAME_PRELOAD_THREADS_H

#include "preload/guard.h"
#include "preload/sampler.h"
#include "preload/stacks.h"
#include "unwind/local.h"

#define THREADS_OWN 256

/* node id -> row id, for rows of blocks that other threads allocated. */
struct far_table {
    struct far_entry {
        uint32_t node, row;
    } * entries;
    uint32_t mask, used;
};

struct thread_state {
    uint16_t id; /* of the trace's thread record */
    uint32_t tid;
    uint32_t epoch; /* of the stack table's root */
    int *errno_at;  /* the thread's errno, without a call */
    struct trace_thread *record;
    struct sampler sampler; /* in use when blocks are sampled */
    struct stack_table stacks;
    struct far_table far;
    struct local_stack stack; /* the last one walked */
    bool was_truncated;       /* it was deeper than the limit */
    uintptr_t *cut;           /* room for a stack cut to the limit */
    struct id_chunk rows;
    int64_t peak_since;   /* live bytes below which no new maximum is looked for */
    uintptr_t last_block; /* the thread's newest block, for temporaries; 0: none */
};

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

/* Forked child: all states but none of their memory belongs to dead threads. */
void threads_after_fork(void);

/* The row in which this thread counts frees of another thread's stack `node`;
 * 0 when there is no room. */
uint32_t threads_far_row(struct thread_state *t, uint32_t node);

/* A new row of this thread for `node`; 0 when the trace is full. */
uint32_t threads_new_row(struct thread_state *t, uint32_t node, uint16_t flags);

#endif
