/*
 * local.h: walks the calling thread's stack, inside a traced program.
 *
 * It combines modules.h (what is mapped), cfi.h and rules.h (how to unwind it), step.h (the walk)
 * and fallback.h (libunwind for the rest). One instance a process. No malloc, no loader lock; errno
 * may change. The caller prevents a thread from re-entering.
 */
#ifndef FLAME_UNWIND_LOCAL_H
#define FLAME_UNWIND_LOCAL_H

#include "unwind/stack_cache.h"
#include "unwind/stackrange.h"

struct local_frame;

/*
 * Stack of a thread's last walk, outermost frame first, and the bounds of its memory. One for each
 * thread.
 */
struct local_stack {
    uintptr_t *pcs; /* result of the last walk */
    uint32_t len;
    uint32_t cap;     /* room in pcs, frames and checks */
    uint32_t ends;    /* see local_stack_init */
    bool interrupted; /* a walk without libunwind met a signal's frame */
    bool asked;       /* libunwind made the step out of some of its frames */
    bool joinable;    /* `frames` describes pcs, and the walk reached the outermost frame */
    struct local_frame *frames; /* parallel to pcs */
    struct walk_check *checks;  /* parallel to pcs, shifted inwards by a constant */
    struct local_frame *fresh;  /* of the walk in progress, innermost first */
    uint32_t fresh_cap;         /* room in fresh */
    int look;                   /* in a very deep stack: where the next few frames are checked */
    int barrier;  /* innermost of the frames that may lead to another stack; -1: none */
    uintptr_t hi; /* end of the memory of the frames inside it; 0: some of that may be unmapped
                     while the thread lives */
    struct stack_cache
        *recall;       /* stacks with a mark; NULL until the thread has had a number of stacks */
    bool kept;         /* the kernel does not copy `recall` to forked children */
    uintptr_t context; /* part of the marks' keys, see local_set_context; no address has its bits */
    uint32_t unmarked; /* number of stacks without a mark so far */
    uint32_t changes;  /* modules' counter of changes when the marks were made */
    struct stack_ranges ranges;
};

/* Caller of the function that uses it, for local_regs. That function must have a frame pointer
 * (-fno-omit-frame-pointer), and must not end before the frame has been read: no tail call. */
#if !ARCH_LINK
#define LOCAL_CALLER() ((const uintptr_t *)__builtin_frame_address(0))
#elif defined(__clang__)
#error "the recorder for this processor is built with gcc: clang cannot tell a function's CFA"
#else
/* A frame record, and the CFA, which may be anywhere above it. Like a frame, it exists as long as
 * the block in which it is used. */
#define LOCAL_CALLER()                                                                             \
    ((const uintptr_t[]){*(const uintptr_t *)__builtin_frame_address(0),                           \
                         arch_strip((uintptr_t)__builtin_return_address(0)),                       \
                         (uintptr_t)__builtin_dwarf_cfa()})
#endif

/* The caller's registers, while the function that it called is still running. */
static inline struct walk_regs local_regs(const uintptr_t *caller)
{
    return (struct walk_regs){
        .pc = caller[1], .sp = ARCH_LINK ? caller[2] : (uintptr_t)(caller + 2), .bp = caller[0]};
}

/* Loads libunwind, which not every walk needs: until then, stacks end where only libunwind could
 * continue. No other thread may be walking. 0, or -errno with *why a sentence for the user. */
int local_init(const char **why);

/* Memory for stacks of up to LOCAL_SMALL frames, which suffices for threads of few calls; deeper
 * ones take pages. */
#define LOCAL_SMALL 28
#define LOCAL_SMALL_SIZE (LOCAL_SMALL * (168 + 2 * ARCH_LINK * sizeof(uintptr_t)) + 96)

struct local_small {
    _Alignas(32) unsigned char bytes[LOCAL_SMALL_SIZE];
};

/*
 * `small` is in use as long as *s is.
 *
 * `ends`: the number of frames that the caller wants to know at the outer and at the inner end of a
 * stack. Where LOCAL_BETWEEN frames and more lie in between, not all of them are checked again by
 * each walk that joins the one before: 100,000 frames would cost it 100 us. The frames there, and
 * their number, are those that an earlier walk saw. They can be wrong if the program has since left
 * them and come back as deep without a walk on the way.
 */
#define LOCAL_BETWEEN 1024
void local_stack_init(struct local_stack *s, uint32_t ends, struct local_small *small);
void local_stack_release(struct local_stack *s);

/* Passes the stack on to another thread, which uses it from now on. */
void local_stack_pass_on(struct local_stack *s);

/* Value of pcs[0] if the stack continues further out in an unknown way; no address has this
 * value. */
#define LOCAL_CUT ((uintptr_t)1)

/*
 * Walks from `regs` outwards: s->pcs[0..s->len) are the return addresses, outermost first, regs.pc
 * the last. Returns how many of the outermost frames are those of the previous walk. *fell_back:
 * libunwind was used, or was needed and is not loaded. A stack deeper than memory allows (16
 * million frames) loses its outer end.
 */
uint32_t local_walk(struct local_stack *s, struct walk_regs regs, bool *fell_back);

/* Whether the last walk met a signal's frame (or, rarely, a frame just as odd). */
static inline bool local_interrupted(const struct local_stack *s)
{
    return s->joinable ? s->barrier >= 0 : s->interrupted;
}

/* Whether the last walk, which did not fall back, came through code without tables, or ended
 * there. */
static inline bool local_guessed(const struct local_stack *s)
{
    return s->barrier >= 0;
}

/*
 * Whether a walk for which local_guessed is true rightly followed frame pointers through all such
 * code. False: some of that code is about to return and shows its return address itself
 * (epilogue.h), or is the outermost, or that cannot be known. Reads the code through the kernel, in
 * one call; `tid` is the calling thread.
 */
bool local_guess_holds(const struct local_stack *s, int tid);

/* Whether the stack memory at `at` belongs to frame `i` of s->pcs, after a walk that did not fall
 * back. */
bool local_holds(const struct local_stack *s, uint32_t i, uintptr_t at);

/*
 * The mark of the stack from `regs` outwards, if it is known to be the same, frame by frame, as one
 * that was marked; otherwise 0. Does not change the result of the last walk.
 */
uint32_t local_recall(struct local_stack *s, struct walk_regs regs);

/* Marks the stack of the last walk, if local_recall can recognise it. `mark` is not 0. */
void local_mark(struct local_stack *s, uint32_t mark);

/* Sets the context, a number below LOCAL_CONTEXTS, at first 0. A stack is recalled only in the
 * context in which it was marked. */
#define LOCAL_CONTEXTS (1u << 28)
void local_set_context(struct local_stack *s, uint32_t context);

/* To be called before [lo, hi) is unmapped, or after other memory was mapped there: it may have
 * held code that was made at run time. Any thread. */
void local_code_goes(uintptr_t lo, uintptr_t hi);

/* To be called in a forked child for each stack, before any other use: no stack has a mark any
 * more, and none gets one for a while. */
void local_drop_marks(struct local_stack *s);

/* Walks the same stack by libunwind alone, with nothing cached, innermost first. */
int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max);

/* In a forked child, before anything else. */
void local_after_fork(void);

/* To be called when addresses have begun to mean other code (a new epoch): drops the rules of all
 * threads, and the calling thread's last stack. */
void local_forget(struct local_stack *s, uint32_t epoch);

/* The rules of all walks in this process, for stopped_walk.c. */
struct rules *local_rules(void);

#endif
