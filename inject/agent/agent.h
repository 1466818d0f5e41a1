/*
 * agent.h: memory that the agent, the recorder inside an attached process, shares with flame
 * outside of it.
 *
 * The agent is a piece of code that flame maps into the process. It calls no library and has no
 * thread-local storage. It makes no system call but one that does nothing (agent_python.c). All its
 * data is in `agent_shared` and `agent_switch`, which flame writes and reads through the process's
 * memory. Its records lie in one mapping, the arena, which it uses from front to back and never
 * frees.
 *
 * A lane has the data of a thread. Threads are distinguished by their thread pointers, so a
 * new thread with the thread pointer of an ended one takes over its lane. A stack is a sequence of
 * return addresses in one lane, with the counters of its allocations. Each counter has one kind of
 * writer: the lane's thread writes alloc_* and free_*, all others write foreign_*, by atomic
 * additions.
 *
 * Order of writing: a stack's addresses, then its place, then its number in the index. flame reads
 * while threads write. So it reads only stacks that have a place, and counters that may be one
 * event apart from each other. The process's memory may hold anything, so flame checks what it
 * reads.
 */
#ifndef FLAME_INJECT_AGENT_AGENT_H
#define FLAME_INJECT_AGENT_AGENT_H

#include "common/compiler.h"
#include "common/processor/arch.h"
#include "unwind/rules.h"

/* Identifies this layout: the first word of agent_shared, by which flame recognises an agent that
 * is already mapped. */
#define AGENT_MAGIC 0x317473657567616cull

#define AGENT_LANES 4096u       /* a power of two */
#define AGENT_STACKS (1u << 20) /* the first number is 1 */
#define AGENT_INDEX (1u << 21)  /* slots, a power of two */
#define AGENT_DEPTH 1024u       /* limit of frames of a stack; the inner ones stay */
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
    uintptr_t start, end; /* addresses of its mapping */
    uintptr_t shift;      /* address in the copy of its tables minus address in memory */
    uintptr_t tables, tables_end;
    uintptr_t hdr, hdr_size; /* .eh_frame_hdr in the copy */
};

/* A mapping, as of flame's last reading; sorted by address. */
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

#define AGENT_INCOMPLETE 1u /* the walk did not reach the outermost frame */
#define AGENT_CUT 2u        /* the outer frames were dropped */

struct agent_stack {
    uint32_t lane, n;
    uint32_t hash, flags;
    uint64_t epoch;
    uint64_t pcs[]; /* innermost first */
};

/* A name that stands for a function of Python in a stack: pcs have STACK_NAME and its number. */
#define AGENT_NAMES (1u << 17) /* the first number is 1 */
#define AGENT_NAME_MOST 1024u  /* bytes */

struct agent_name {
    uint32_t len;
    char text[];
};

/* The interpreter that the process runs, as unwind/python/pyframes.h has it, and where the C
 * library stores thread-specific data: in `specific` of a thread's control block are pointers to
 * blocks of AGENT_KEYS entries. */
#define AGENT_KEYS 32u
struct agent_python {
    uint32_t version; /* 0: no functions have names */
    uint32_t specific, entry_size, entry_data;
    uint32_t may_ask; /* the kernel may be asked whether memory can be read */
    uintptr_t runtime, code_type, text_type;
};

/* A leaf of the shadow map, in which flame finds the live blocks (inject/memory/agent_blocks.h). */
#define AGENT_LEAVES 16384u
struct agent_leaf {
    void *leaf;
    uintptr_t base; /* first address that it covers */
    uint64_t kind;  /* enum shadow_leaf_kind, written last */
};

struct agent_lane {
    uintptr_t thread; /* the thread's control block; 0: the lane is free */
    uintptr_t inside; /* stack pointer of the running hook; 0: no hook runs */
    uint64_t skipped; /* calls that were not recorded, because a hook already ran */
    uint64_t lost;    /* calls for which there was no room */
    uint64_t lost_bytes;
    uint64_t *pcs;               /* of the stack being walked; in the arena */
    uintptr_t room, room_end;    /* for its next stacks; in the arena */
    uintptr_t last;              /* the block allocated last, if it is not freed */
    struct agent_frames *frames; /* (agent_python.c); in the arena */
};

struct agent_shared {
    uint64_t magic;
    uint64_t size;  /* sizeof(struct agent_shared) */
    uint64_t owner; /* the recording flame: its pid, and its start time (/proc/PID/stat) */
    uint64_t owner_began;
    void *real[AGENT_FUNCTIONS];
    /* The arena's free part. */
    uintptr_t arena, arena_at, arena_end;
    struct agent_python python;
    struct agent_name **names;
    uint64_t nnames; /* number of names; their numbers begin at 1 */
    struct agent_leaf *leaves;
    uint64_t nleaves;    /* number of leaves, of which the first AGENT_LEAVES are listed */
    uint64_t maps_count; /* number of lists of mappings so far */
    struct agent_maps maps[2];
    uint32_t maps_now; /* index of the valid one; changed by one byte, so that no reader sees a
                          mixture */
    struct agent_count *counts;
    struct agent_stack **places;
    uint32_t *index;
    uint64_t epoch;   /* grows when addresses begin to mean other code */
    uint64_t nstacks; /* number of stacks; their numbers begin at 1 */
    uint64_t unlaned; /* calls of threads for which there was no lane */
    struct rules rules;
    struct agent_lane lanes[AGENT_LANES];
};

/* On a page of its own, which the kernel wipes in forked children (MADV_WIPEONFORK). So a forked
 * child records nothing. */
struct agent_switch {
    _Alignas(ARCH_PAGE_MOST) uint64_t on;
    uint8_t rest[ARCH_PAGE_MOST - sizeof(uint64_t)];
};

/* Hidden, so that the agent reaches the data without a relocation. flame finds it by other names
 * (agent_record.c). */
#define AGENT_HERE __attribute__((visibility("hidden")))
extern AGENT_HERE struct agent_shared agent_shared;
extern AGENT_HERE struct agent_switch agent_switch;

/* Visible in the symbol table, but not replaceable. */
#define AGENT_SEEN __attribute__((visibility("protected")))

/* The hooks, under the names by which flame finds them in the agent. */
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

/* The thread's lane, which is in use until agent_leave. NULL: nothing is recorded. `sp`: a stack
 * pointer in the hook's frame. */
struct agent_lane *agent_enter(uintptr_t sp, uintptr_t *before);
static inline void agent_leave(struct agent_lane *lane, uintptr_t before)
{
    __atomic_store_n(&lane->inside, before, __ATOMIC_RELEASE);
}

/* Counts a block that the program has just got. `caller`: LOCAL_CALLER of the hook. */
void agent_allocated(struct agent_lane *lane, void *block, uint64_t size, const uintptr_t *caller);

/* Removes a block that the program is about to free, and stores its stack and size in *known.
 * False: the block is not known. */
struct block;
bool agent_takes(void *block, struct block *known);
/* Counts the free of a block. `block` 0: its address is not known. */
void agent_freed(struct agent_lane *lane, uintptr_t block, const struct block *known);
/* Enters a block again, because it was not freed after all. */
void agent_keeps(void *block, const struct block *known);

/* Walks from `caller` outwards and stores the return addresses, innermost first, in lane->pcs.
 * Returns their number; *flags as in agent_stack. */
uint32_t agent_walk(struct agent_lane *lane, const uintptr_t *caller, uint32_t *flags);

/* Whether the code at `pc` belongs to a module. */
bool agent_has_module(uintptr_t pc);

/* The mapping that has `addr`, as of flame's last reading. NULL: there is none. */
const struct agent_place *agent_place_of(uintptr_t addr);

/* Room for the stack pointers of lane->pcs, which agent_walk fills in. NULL: no functions have
 * names. */
uintptr_t *agent_sps(struct agent_lane *lane);
/* Adds the functions of Python that the thread runs to the n frames in lane->pcs, and returns the
 * new number of frames. */
uint32_t agent_with_python(struct agent_lane *lane, uint32_t n, uint32_t *flags);

#endif
