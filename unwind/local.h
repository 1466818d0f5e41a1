/*
 * local.h: the calling thread's stack, inside a traced program.
 *
 * Puts together modules.h (what is mapped), cfi.h and rules.h (how to unwind it),
 * step.h (the walk) and fallback.h (libunwind for the rest). One instance a
 * process. No malloc, no loader lock; errno may change. The caller makes sure
 * that a thread does not re-enter.
 */
#ifndef FLAME_UNWIND_LOCAL_H
#define FLAME_UNWIND_LOCAL_H

#include "unwind/stack_cache.h"
#include "unwind/stackrange.h"

struct local_frame;

/*
 * The stack a thread was last seen with, outermost frame first, and the bounds of
 * the memory it was on. One for each thread.
 */
struct local_stack {
    uintptr_t *pcs; /* the result of the last walk */
    uint32_t len;
    uint32_t cap;               /* room in pcs, frames and checks */
    uint32_t ends;              /* see local_stack_init */
    bool interrupted;           /* of a walk without libunwind: it met a signal's frame */
    bool asked;                 /* libunwind has stepped out of some of its frames */
    bool joinable;              /* frames describes pcs, and the walk came to the outermost frame */
    struct local_frame *frames; /* parallel to pcs */
    struct walk_check *checks;  /* parallel to pcs, further in by a constant */
    struct local_frame *fresh;  /* of the walk in progress, innermost first */
    uint32_t fresh_cap;         /* room in fresh */
    int look;                   /* in a very deep stack: where the next few checks are made */
    int barrier;                /* innermost of frames that may lead to another stack; -1: none */
    uintptr_t hi;               /* where the memory ends in which the frames inside of that are;
                                   0: some of it may go while the thread lives */
    struct stack_cache *recall; /* stacks that have a mark; NULL for the first few of them */
    bool kept;                  /* forked children do not have `recall` */
    uintptr_t context;          /* of marks, see local_set_context; no address has its bits */
    uint32_t unmarked;          /* stacks without a mark so far */
    uint32_t changes;           /* of modules, when the marks were made */
    struct stack_ranges ranges;
};

/* Caller of the function this is used in, for local_regs. The function must have a frame pointer
 * (-fno-omit-frame-pointer), and must not be left before the frame has been read: no tail call. */
#if !ARCH_LINK
#define LOCAL_CALLER() ((const uintptr_t *)__builtin_frame_address(0))
#elif defined(__clang__)
#error "the recorder for this processor is built with gcc: clang cannot tell a function's CFA"
#else
/* A frame record, and the CFA, which may be anywhere above it. Like a frame, it is there as long as
 * the block that this is used in. */
#define LOCAL_CALLER()                                                                             \
    ((const uintptr_t[]){*(const uintptr_t *)__builtin_frame_address(0),                           \
                         arch_strip((uintptr_t)__builtin_return_address(0)),                       \
                         (uintptr_t)__builtin_dwarf_cfa()})
#endif

/* The caller's registers, while the function it called is still running. */
static inline struct walk_regs local_regs(const uintptr_t *caller)
{
    return (struct walk_regs){
        .pc = caller[1], .sp = ARCH_LINK ? caller[2] : (uintptr_t)(caller + 2), .bp = caller[0]};
}

/* Loads libunwind, which not every walk needs: until then, stacks end where only libunwind could
 * continue. Not while another thread may walk. 0, or -errno with *why a sentence for the user. */
int local_init(const char **why);

/* Memory for stacks of up to LOCAL_SMALL frames, which is the most that threads of few calls ever
 * need; pages are taken for deeper ones. */
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

/* Hands the stack on: another thread uses it from now on. */
void local_stack_pass_on(struct local_stack *s);

/* Value of pcs[0] where the stack continues further out in a way that is not known; no address has
 * this value. */
#define LOCAL_CUT ((uintptr_t)1)

/*
 * Walks from `regs` outwards: s->pcs[0..s->len) are the return addresses,
 * outermost first, regs.pc the last. Returns how many of the outermost are the
 * same frames as in the walk before. *fell_back: libunwind had to be asked, or is
 * not there to be asked. A stack deeper than memory allows (16 million frames) loses its outer end.
 */
uint32_t local_walk(struct local_stack *s, struct walk_regs regs, bool *fell_back);

/* Whether the last walk met a signal's frame (or, once, something as odd). */
static inline bool local_interrupted(const struct local_stack *s)
{
    return s->joinable ? s->barrier >= 0 : s->interrupted;
}

/* Whether the last walk, in which nothing fell back, came through code without tables, or has ended
 * there. */
static inline bool local_guessed(const struct local_stack *s)
{
    return s->barrier >= 0;
}

/*
 * Whether a walk for which local_guessed is true came through all that code by its frame pointers,
 * as it should have. False: some of that code is about to return and says itself where to
 * (epilogue.h), or is the outermost, or that cannot be known. Asks the kernel for the code, in one
 * call; `tid` is the calling thread.
 */
bool local_guess_holds(const struct local_stack *s, int tid);

/* Whether the stack memory at `at` belongs to frame `i` of s->pcs, after a walk in which nothing
 * fell back. */
bool local_holds(const struct local_stack *s, uint32_t i, uintptr_t at);

/*
 * The mark of the stack from `regs` outwards, if it is known to be the same, frame by
 * frame, as one that was marked; else 0. The result of the last walk stays.
 */
uint32_t local_recall(struct local_stack *s, struct walk_regs regs);

/* Marks the stack of the last walk, if it can be recalled. `mark` is not 0. */
void local_mark(struct local_stack *s, uint32_t mark);

/* Stacks are recalled in the context they were marked in: a number below 2^28, 0 at first. */
void local_set_context(struct local_stack *s, uint32_t context);

/* To be called before [lo, hi) is unmapped, or when other memory has come there: code that was made
 * at run time may have lain in it. Any thread. */
void local_code_goes(uintptr_t lo, uintptr_t hi);

/* In a forked child, of each stack, before anything else is done to it: no stack has a mark any
 * more, and none gets one for a while. */
void local_drop_marks(struct local_stack *s);

/* Walks the same stack by libunwind alone, without anything cached, innermost first. */
int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max);

/* In a forked child, before anything else. */
void local_after_fork(void);

/* To be called when addresses have come to mean other code (a new epoch): it drops the rules
 * of all threads and what the calling thread remembers of its stack. */
void local_forget(struct local_stack *s, uint32_t epoch);

#endif
