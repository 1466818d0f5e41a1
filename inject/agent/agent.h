/*
 * agent.h: the memory that the recorder inside a process that was attached to shares with the flame
 * outside of it.
 *
 * The recorder (the agent, `agent` in names) is a piece of code that flame maps into the process:
 * it calls no library, makes no system call, and has no thread-local storage. All its data is in
 * `agent_shared` and `agent_switch`, which flame writes and reads through the process's memory. Its
 * records lie in one mapping, the arena, which it takes from front to back and never gives back.
 *
 * A lane has the data of a thread; threads are told apart by their control blocks (%fs), so one
 * that is gone hands its lane on to the next with the same block. A stack is a sequence of return
 * addresses in one lane, with the counters of what was allocated there. A counter has one writer:
 * alloc_* and free_* the lane's thread, foreign_* all others, by atomic additions.
 *
 * Order of writing: a stack's addresses, then its place, then its number in the index. flame reads
 * while threads write, so it reads stacks that have a place, and counters that may be one event
 * apart from each other. The process's memory may hold anything, so flame checks what it reads.
 */
#ifndef FLAME_INJECT_AGENT_AGENT_H
#define FLAME_INJECT_AGENT_AGENT_H

#include "common/compiler.h"
#include "unwind/rules.h"

/* Mark of this layout; the first word of agent_shared, by which an agent that is there already is
 * recognised. */
#define AGENT_MAGIC 0x317473657567616cull

#define AGENT_LANES 4096u       /* a power of two */
#define AGENT_STACKS (1u << 20) /* the first number is 1 */
#define AGENT_INDEX (1u << 21)  /* slots, a power of two */
#define AGENT_DEPTH 1024u       /* frames kept of a stack, the inner ones */
#define AGENT_MODULES 8192u
#define AGENT_PLACES 65536u

/* The functions that are hooked, in the order of agent_hooks and agent_shared.real. */
enum agent_function {
    AGENT_MALLOC,
    AGENT_FREE,
    AGENT_CALLOC,
    AGENT_REALLOC,
    AGENT_MEMALIGN,
    AGENT_POSIX_MEMALIGN,
    AGENT_ALIGNED_ALLOC,
    AGENT_VALLOC,
    AGENT_PVALLOC,
    AGENT_REALLOCARRAY,
    AGENT_FUNCTIONS
};

/* A module whose unwind tables are copied into the arena. */
struct agent_module {
    uintptr_t start, end; /* where it is mapped */
    uintptr_t shift;      /* address in its tables' copy minus address in memory */
    uintptr_t tables, tables_end;
    uintptr_t hdr, hdr_size; /* .eh_frame_hdr in the copy */
};

/* A mapping, as flame read it last; by address. */
struct agent_place {
    uintptr_t start, end;
    uint32_t stack; /* writable and private: a stack pointer may be in it */
    uint32_t code;
};

struct agent_maps {
    uint64_t nmodules, nplaces;
    struct agent_module *modules; /* by address */
    struct agent_place *places;
};

struct agent_count {
    uint64_t alloc_bytes, alloc_calls, free_bytes, free_calls;
    uint64_t foreign_bytes, foreign_calls;
    uint64_t temp_calls; /* freed by the lane's thread before its next allocation */
    uint64_t unused;
};

#define AGENT_INCOMPLETE 1u /* the walk did not come to the outermost frame */
#define AGENT_CUT 2u        /* the outer frames are left out */

struct agent_stack {
    uint32_t lane, n;
    uint32_t hash, flags;
    uint64_t epoch;
    uint64_t pcs[]; /* innermost first */
};

struct agent_lane {
    uintptr_t thread; /* its control block; 0: the lane is free */
    uintptr_t inside; /* the stack pointer of the hook that runs; 0: none does */
    uint64_t skipped; /* calls in which nothing was recorded, as a hook ran already */
    uint64_t lost;    /* calls for which there was no room, */
    uint64_t lost_bytes;
    uint64_t *pcs;            /* of the stack being walked; in the arena */
    uintptr_t room, room_end; /* for its next stacks; in the arena */
    uintptr_t last;           /* the block it got last, if that is not freed */
};

struct agent_shared {
    uint64_t magic;
    uint64_t size;  /* sizeof this */
    uint64_t owner; /* the flame that records: its pid, and when it began (/proc/PID/stat) */
    uint64_t owner_began;
    void *real[AGENT_FUNCTIONS];
    /* The arena: what is free of it. */
    uintptr_t arena, arena_at, arena_end;
    struct agent_maps maps[2];
    uint32_t
        maps_now; /* which of them holds; changed by a byte, so that no reader sees half of it */
    struct agent_count *counts;
    struct agent_stack **places;
    uint32_t *index;
    uint64_t epoch;   /* grows when addresses have come to mean other code */
    uint64_t nstacks; /* numbers handed out, from 1 on */
    uint64_t unlaned; /* calls of threads for which there was no lane */
    struct rules rules;
    struct agent_lane lanes[AGENT_LANES];
};

/* A page of its own: the kernel wipes it in forked children (MADV_WIPEONFORK), which therefore
 * record nothing. */
struct agent_switch {
    _Alignas(4096) uint64_t on;
    uint8_t rest[4096 - sizeof(uint64_t)];
};

/* Visibility in the table of symbols, not to be replaced: the agent reaches the data without a
 * relocation. */
#define AGENT_SEEN __attribute__((visibility("protected")))
extern AGENT_SEEN struct agent_shared agent_shared;
extern AGENT_SEEN struct agent_switch agent_switch;

/* The hooks, under the names by which flame finds them in the guest. */
AGENT_SEEN void *agent_malloc(size_t n);
AGENT_SEEN void agent_free(void *p);
AGENT_SEEN void *agent_calloc(size_t n, size_t size);
AGENT_SEEN void *agent_realloc(void *old, size_t size);
AGENT_SEEN void *agent_memalign(size_t align, size_t n);
AGENT_SEEN int agent_posix_memalign(void **to, size_t align, size_t n);
AGENT_SEEN void *agent_aligned_alloc(size_t align, size_t n);
AGENT_SEEN void *agent_valloc(size_t n);
AGENT_SEEN void *agent_pvalloc(size_t n);
AGENT_SEEN void *agent_reallocarray(void *old, size_t n, size_t each);

/* ---- within the agent ---- */

/* The thread's lane, which is in use from now on until agent_leave; NULL: nothing is recorded. `sp`
 * is in the hook's frame. */
struct agent_lane *agent_enter(uintptr_t sp, uintptr_t *before);
static inline void agent_leave(struct agent_lane *lane, uintptr_t before)
{
    __atomic_store_n(&lane->inside, before, __ATOMIC_RELEASE);
}

/* Counts a block that the program just got; `caller`: LOCAL_CALLER of the hook. */
void agent_allocated(struct agent_lane *lane, void *block, uint64_t size, const uintptr_t *caller);

/* Takes out a block that the program is about to give back: its stack and size, which are forgotten
 * here. False: the block is not known. */
struct block;
bool agent_takes(void *block, struct block *known);
/* Counts a block that has been given back; `block` 0: its address is not known. */
void agent_freed(struct agent_lane *lane, uintptr_t block, const struct block *known);
/* Puts a block back that has not been given back after all. */
void agent_keeps(void *block, const struct block *known);

/* Walks from `caller` outwards: return addresses, innermost first, into lane->pcs. Returns how
 * many; *flags as in agent_stack. */
uint32_t agent_walk(struct agent_lane *lane, const uintptr_t *caller, uint32_t *flags);

#endif
