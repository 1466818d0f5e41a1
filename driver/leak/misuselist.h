/*
 * misuselist.h: the misuses of the allocator in a run, one by one.
 *
 * Equal misuses in several processes and threads are one entry. Strings are safe text as in
 * leaklist.h. Not thread-safe.
 */
#ifndef FLAME_DRIVER_LEAK_MISUSELIST_H
#define FLAME_DRIVER_LEAK_MISUSELIST_H

#include "driver/leak/leaklist.h"
#include "driver/suppress/leak_filter.h"

/* The stacks that a misuse may have. */
enum misuse_stack { MISUSE_CALL, MISUSE_ALLOC, MISUSE_FREE, MISUSE_STACKS };

/* "double-free", "invalid-free", "realloc-freed", "realloc-invalid", "mismatch",
 * "wrong-size", by enum trace_misuse_kind. */
extern const char *const misuse_kind_names[TRACE_MISUSE_KINDS];
/* "free", "operator delete[]"..., by enum trace_call; "malloc", "operator new"..., by enum
 * trace_made; "inside a block", "on the stack"..., by enum trace_where. */
extern const char *const misuse_call_names[TRACE_CALLS];
extern const char *const misuse_made_names[TRACE_MADES];
extern const char *const misuse_where_names[TRACE_WHERES];

struct misuse_who {
    const char *thread; /* "": not known */
    uint32_t tid;       /* 0: not known, or several */
};

struct misuse {
    struct trace_misuse facts; /* its ids of nodes and threads are not valid any more */
    const char *process;
    uint32_t pid;     /* 0: not known */
    size_t processes; /* in which it was met */
    struct misuse_who who, freed;
    struct leak at[MISUSE_STACKS]; /* the frames alone; none: not known */
};

struct misuse_list {
    struct misuse *misuse; /* the most frequent first */
    size_t n, room;
    uint64_t unjudged; /* frees that could not be judged */
    size_t processes;  /* in which frees were judged */
};

/*
 * Fills the list, which is empty, from traces with separate processes and threads. Suppressed
 * misuses are skipped and counted in the suppressions. 0, or an enum flame_exit after a line, and
 * the list is empty.
 */
int misuse_list_make(struct misuse_list *l, struct leak_filter *hides, struct trace *const *traces,
                     size_t ntraces);
void misuse_list_release(struct misuse_list *l);

#endif
