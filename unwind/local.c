/*
 * Problem: two calls of malloc in a row come from stacks that differ in a few
 * inner frames, and walking the rest again is most of the cost of recording.
 *
 * Algorithm: each thread keeps the frames of its last walk, with the addresses of
 * the words that decided each step (where the return address and the saved frame
 * pointer were read). A walk that meets a frame with the same pc, sp and bp as
 * one kept reads those words again: if they all hold what they held, the rest of
 * the walk would come out the same, step by step, so it is taken over. That is
 * exact, not a guess: the steps depend on nothing else. The reads of one frame do
 * not wait for those of another, so a frame costs under a nanosecond, where a
 * step by its rule costs several. If a word differs, the walk goes on from there
 * by rule, and may join again further out.
 *
 * Rejected: rewriting return addresses to notice returns (crashes with
 * exceptions, longjmp, coroutines); trusting an unchanged sp and pc without
 * reading the words (two callers can leave the same ones).
 */
#define _GNU_SOURCE
#include "unwind/local.h"

#include <link.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/pages.h"
#include "common/procmaps.h"
#include "unwind/debugframe.h"
#include "unwind/fallback.h"
#include "unwind/modules.h"
#include "unwind/step.h"

/* The kernel keeps this much free below a stack that can grow (stack_guard_gap,
 * 256 pages), so nothing else is mapped there. */
#define STACK_GAP ((uintptr_t)1 << 20)

static struct rule compile(void *arg, uintptr_t pc);

static struct rules rules = {.compile = compile};
static uint32_t rules_epoch;

int local_init(const char **why)
{
    return fallback_init(why);
}

/* ---- rules ---- */

static bool is_code(uintptr_t pc)
{
    struct procmap map;

    return procmaps_find(0, pc, &map) && map.exec;
}

static struct rule compile(void *arg FLAME_UNUSED, uintptr_t pc)
{
    struct module m;
    struct cfi_section s = {.hdr = NULL};
    struct rule rule;

    if (!modules_note(pc, &m))
        return (struct rule){.kind = is_code(pc) ? RULE_NONE : RULE_BOGUS};
    s.lo = m.start;
    s.hi = m.end;
    for (uint16_t i = 0; m.phdr && i < m.phnum; i++) {
        const ElfW(Phdr) *ph = (const ElfW(Phdr) *)m.phdr + i;
        uintptr_t at = m.bias + ph->p_vaddr;

        if (ph->p_type != PT_GNU_EH_FRAME || at < s.lo || at >= s.hi || ph->p_memsz > s.hi - at)
            continue;
        s.hdr = (const uint8_t *)at;
        s.hdr_size = ph->p_memsz;
    }
    rule = cfi_rule_at(&s, pc);
    if (rule.kind == RULE_NONE)
        rule = debugframe_rule(&m, pc);
    /* No call ends where a function begins: makecontext put this address there, and
     * the frame pointer is what it was where the context was made. */
    if (rule.kind == RULE_NONE && cfi_rule_at(&s, pc + 1).kind != RULE_NONE)
        rule.kind = RULE_END;
    /* A module without a search table: libunwind may still know its way. */
    if (rule.kind == RULE_NONE && !s.hdr)
        rule.kind = RULE_COMPLEX;
    return rule;
}

void local_after_fork(void)
{
    debugframe_after_fork();
}

/* Addresses may mean other code by now: what was kept is no longer to be trusted. */
static FLAME_COLD void forget_marks(struct local_stack *s)
{
    s->changes = modules_changes();
    if (s->recall)
        recall_clear(s->recall);
}

void local_forget(struct local_stack *s, uint32_t epoch)
{
    s->joinable = false;
    forget_marks(s);
    if (__atomic_exchange_n(&rules_epoch, epoch, __ATOMIC_ACQ_REL) != epoch)
        rules_forget(&rules);
    fallback_forget();
}

/* ---- the stack's bounds ---- */

/*
 * Where the thread's own stack ends, if `sp` is on it: the kernel's for the first
 * thread; for others that of the C library, which puts the thread's control block
 * above. Other stacks (coroutines', signals') may be unmapped in part and used again.
 */
static uintptr_t lasting_end(const struct procmap *map, uintptr_t sp)
{
    uintptr_t self = (uintptr_t)__builtin_thread_pointer();

    if (map->stack)
        return map->end;
    /* The first thread's block may share a mapping with anything. */
    if (self < sp || self >= map->end || syscall(SYS_gettid) == getpid())
        return 0;
    return self;
}

/* By the kernel's word: the ranges may be out of date. */
static bool is_mapped(uintptr_t at)
{
    uintptr_t words[2];
    struct iovec here = {words, sizeof words}, there = {(void *)at, sizeof words};

    return syscall(SYS_process_vm_readv, getpid(), &here, 1L, &there, 1L, 0L) == sizeof words;
}

static inline struct walk_window window_of(uintptr_t sp, uintptr_t hi, uintptr_t lasts)
{
    return (struct walk_window){sp, hi, (const uint8_t *)sp, is_mapped, lasts > sp ? lasts : 0};
}

static FLAME_COLD bool learn_range(struct local_stack *s, uintptr_t sp, struct walk_window *out)
{
    unsigned i = s->next_range++ % ARRAY_LEN(s->range);
    struct procmap map;

    if (!procmaps_find(0, sp, &map) || !map.read)
        return false;
    s->range[i].lo = map.stack && map.start > STACK_GAP ? map.start - STACK_GAP : map.start;
    s->range[i].hi = map.end;
    s->range[i].lasts = lasting_end(&map, sp);
    *out = window_of(sp, map.end, s->range[i].lasts);
    return true;
}

/* The window begins at sp, not at the mapping's start: below sp is nobody's. */
static bool local_window(struct local_stack *s, uintptr_t sp, struct walk_window *out)
{
    for (size_t i = 0; i < ARRAY_LEN(s->range); i++)
        if (sp >= s->range[i].lo && sp < s->range[i].hi) {
            *out = window_of(sp, s->range[i].hi, s->range[i].lasts);
            return true;
        }
    return learn_range(s, sp, out);
}

/* Whether all from `sp` on that was mapped once stays mapped. */
static bool lasts(const struct local_stack *s, uintptr_t sp)
{
    for (size_t i = 0; i < ARRAY_LEN(s->range); i++)
        if (sp >= s->range[i].lo && sp < s->range[i].hi)
            return sp < s->range[i].lasts;
    return false;
}

/* ---- memory ---- */

#define FIRST_FRAMES 256u
#define MAX_FRAMES (1u << 21) /* 8 MiB of stack holds half a million of 16 bytes */

struct local_frame {
    struct frame_state f;    /* of a kept frame that does not need bp, f.r.bp may be out of date */
    struct step_words words; /* of the step to the next outer frame */
    uintptr_t needs_bp;      /* some step from here on depends on f.r.bp */
};

/* Word by word: what was just stored in words and is read in larger pieces has to wait. */
static inline void copy_state(struct frame_state *to, const struct frame_state *from)
{
    to->r.pc = from->r.pc;
    to->r.sp = from->r.sp;
    to->r.bp = from->r.bp;
    to->kind = from->kind;
}

static inline void copy_words(struct step_words *to, const struct step_words *from)
{
    to->ra_at = from->ra_at;
    to->bp_at = from->bp_at;
    to->uses_bp = from->uses_bp;
}

static inline void copy_frame(struct local_frame *to, const struct local_frame *from)
{
    copy_state(&to->f, &from->f);
    copy_words(&to->words, &from->words);
    to->needs_bp = from->needs_bp;
}

/* As many checks less one that always hold stand before the outermost frame's, to
 * fill up its group. */
#define BEFORE (CHECK_GROUP - 1)

static void release_frames(struct local_stack *s)
{
    pages_free(s->pcs, s->cap * sizeof *s->pcs);
    pages_free(s->frames, s->cap * sizeof *s->frames);
    pages_free(s->checks, (s->cap + BEFORE) * sizeof *s->checks);
    pages_free(s->fresh, s->cap * sizeof *s->fresh);
}

static bool reserve(struct local_stack *s, uint32_t cap)
{
    struct local_stack more = {.cap = cap};

    more.pcs = pages_alloc(cap * sizeof *more.pcs);
    more.frames = pages_alloc(cap * sizeof *more.frames);
    more.checks = pages_alloc((cap + BEFORE) * sizeof *more.checks);
    more.fresh = pages_alloc(cap * sizeof *more.fresh);
    if (!more.pcs || !more.frames || !more.checks || !more.fresh) {
        release_frames(&more);
        return false;
    }
    for (uint32_t i = 0; i < BEFORE; i++)
        more.checks[i] = (struct walk_check){&step_no_word, &step_no_word, 0, 0};
    if (s->cap) {
        memcpy(more.pcs, s->pcs, s->cap * sizeof *s->pcs);
        memcpy(more.frames, s->frames, s->cap * sizeof *s->frames);
        memcpy(more.checks, s->checks, (s->cap + BEFORE) * sizeof *s->checks);
        memcpy(more.fresh, s->fresh, s->cap * sizeof *s->fresh);
        release_frames(s);
    }
    s->pcs = more.pcs;
    s->frames = more.frames;
    s->checks = more.checks;
    s->fresh = more.fresh;
    s->cap = cap;
    return true;
}

bool local_stack_init(struct local_stack *s)
{
    return reserve(s, FIRST_FRAMES);
}

void local_stack_release(struct local_stack *s)
{
    release_frames(s);
    if (s->recall)
        pages_free(s->recall, sizeof *s->recall);
}

/* ---- joining the last walk ---- */

/* `f` is the kept frame, as far as the walk from there on can tell. */
static inline bool same_frame(const struct local_frame *kept, const struct frame_state *f)
{
    return ((kept->f.r.sp ^ f->r.sp) | (kept->f.r.pc ^ f->r.pc) | (kept->f.kind ^ f->kind) |
            (kept->needs_bp ? kept->f.r.bp ^ f->r.bp : 0)) == 0;
}

/* Of frame `i`, counted from the outermost. */
static inline struct walk_check *check_of(struct local_stack *s, uint32_t i)
{
    return &s->checks[i + BEFORE];
}

/* What frame `i` needs of bp, and its check, from its words and the frame before it. */
static inline void set_check(struct local_stack *s, uint32_t i)
{
    struct local_frame *frame = &s->frames[i];
    const struct local_frame *outer = i ? frame - 1 : NULL;
    bool bp_matters = outer && outer->needs_bp;
    struct walk_check *c = check_of(s, i);

    frame->needs_bp = frame->words.uses_bp || (bp_matters && !frame->words.bp_at);
    c->ra_at = c->bp_at = (const uintptr_t *)frame->words.ra_at;
    c->ra = c->bp = outer ? outer->f.r.pc : 0;
    if (bp_matters && frame->words.bp_at) {
        c->bp_at = (const uintptr_t *)frame->words.bp_at;
        c->bp = outer->f.r.bp;
    }
    if (unlikely(!frame->words.ra_at)) {
        c->ra_at = c->bp_at = &step_no_word;
        c->ra = c->bp = 1;
    }
}

/* The innermost frame from `k` outwards whose check fails; -1: none does. Words beyond
 * a check that fails are read too early, which is safe only in one piece of memory:
 * inside of s->barrier, while that is sure to be mapped as far as it was (`as_mapped`). */
static inline int first_failing(struct local_stack *s, int k, bool as_mapped)
{
    const struct walk_check *c = check_of(s, (uint32_t)k);
    int end = s->barrier < 0 ? -(int)CHECK_GROUP : s->barrier;

    if (likely(as_mapped))
        for (; k - (int)CHECK_GROUP >= end; k -= (int)CHECK_GROUP, c -= CHECK_GROUP)
            if (unlikely(group_differs(c) != 0))
                break;
    for (; k >= 0 && !check_differs(c); c--)
        k--;
    return k;
}

/* Where kept frames stop to hold: the step out of frame `at` came out as this. */
struct divergence {
    int at; /* -1: nowhere, all the rest holds */
    struct frame_state f;
    enum step step;
    struct step_words words;
};

/* Brings bp up to date in the kept frames from `from`, whose is `bp`, out to `to`;
 * the checks in between hold. */
static inline void update_bp(struct local_stack *s, int from, int to, uintptr_t bp)
{
    for (int i = from;; i--) {
        s->frames[i].f.r.bp = bp;
        if (i == to)
            return;
        if (s->frames[i].words.bp_at)
            bp = *(const uintptr_t *)s->frames[i].words.bp_at;
    }
}

/* Looks at kept frames from `from`, whose bp is `bp`, outwards. */
static void check_kept(struct local_stack *s, int from, uintptr_t bp, bool as_mapped,
                       struct divergence *d)
{
    for (int k = from;; bp = d->f.r.bp) {
        struct walk_window w;
        int begin = k;

        d->at = k = first_failing(s, k, as_mapped);
        if (likely(k < 0))
            return;
        update_bp(s, begin, k, bp);
        copy_state(&d->f, &s->frames[k].f);
        d->step = STEP_LOST;
        if (local_window(s, d->f.r.sp, &w))
            d->step = step_out(&rules, &w, &d->f, &d->words);
        if (k == 0) {
            if (d->step == STEP_END)
                d->at = -1;
            return;
        }
        if ((d->step != STEP_OK && d->step != STEP_STACK) || !same_frame(&s->frames[k - 1], &d->f))
            return;
        copy_words(&s->frames[k].words, &d->words);
        set_check(s, (uint32_t)k);
        k--;
    }
}

/* ---- the walk ---- */

static FLAME_COLD bool widen(struct local_stack *s)
{
    return s->cap < MAX_FRAMES && reserve(s, s->cap * 4);
}

/* The innermost frame from `k` outwards whose step no words can vouch for. */
static FLAME_COLD int find_barrier(struct local_stack *s, int k)
{
    while (k >= 0 &&
           !(check_of(s, (uint32_t)k)->ra_at == &step_no_word && check_of(s, (uint32_t)k)->ra))
        k--;
    return k;
}

/* The kept frames [0, kept) and then the fresh ones become the stack, whose inner end
 * lies in memory that is mapped up to `hi`. */
static bool conclude(struct local_stack *s, uint32_t kept, uint32_t n, uintptr_t hi)
{
    s->len = kept + n;
    while (unlikely(s->len > s->cap))
        if (!widen(s))
            return false;
    if (unlikely(s->barrier >= (int)kept))
        s->barrier = find_barrier(s, (int)kept - 1);
    for (const struct local_frame *from = s->fresh + n; from-- > s->fresh; kept++) {
        copy_frame(&s->frames[kept], from);
        s->pcs[kept] = from->f.r.pc;
        set_check(s, kept);
        if (unlikely(!from->words.ra_at))
            s->barrier = (int)kept;
    }
    s->hi = hi;
    return true;
}

/* False: libunwind must be asked. *kept is how many outer frames were taken over. */
static bool walk_by_rules(struct local_stack *s, struct walk_regs regs, uint32_t *kept)
{
    struct frame_state f = {.r = regs};
    struct walk_window w = {0};
    int old = s->joinable ? (int)s->len - 1 : -1;
    uint32_t n = 0;
    uintptr_t hi;

    *kept = 0;
    if (unlikely(!local_window(s, regs.sp, &w)))
        return false;
    hi = lasts(s, regs.sp) ? w.hi : 0;
    for (;; n++) {
        enum step step;

        while (old >= 0 && s->frames[old].f.r.sp < f.r.sp)
            old--;
        if (unlikely(n == s->cap) && !widen(s))
            return false;
        if (old >= 0 && same_frame(&s->frames[old], &f)) {
            struct divergence d;

            check_kept(s, old, f.r.bp, w.hi == s->hi, &d);
            if (likely(d.at < 0)) {
                *kept = (uint32_t)old + 1;
                return conclude(s, *kept, n, hi);
            }
            /* Frames up to there have new callers: they are fresh ones now. */
            for (; old > d.at; old--, n++) {
                if (unlikely(n + 1 >= s->cap) && !widen(s))
                    return false;
                copy_frame(&s->fresh[n], &s->frames[old]);
            }
            copy_frame(&s->fresh[n], &s->frames[old--]);
            copy_words(&s->fresh[n].words, &d.words);
            copy_state(&f, &d.f);
            step = d.step;
            if (step == STEP_OK)
                step = STEP_STACK; /* frames back there may lie on another stack than `w` */
        } else {
            copy_state(&s->fresh[n].f, &f);
            step = step_out(&rules, &w, &f, &s->fresh[n].words);
        }
        if (step == STEP_BOGUS)
            return conclude(s, 0, n, hi);
        if (step == STEP_END)
            return conclude(s, 0, n + 1, hi);
        if (unlikely(step == STEP_LOST || (step == STEP_STACK && !local_window(s, f.r.sp, &w))))
            return false;
    }
}

/* libunwind begins inside the shim: drop what is inside of regs.pc's frame. */
static int drop_inner(uintptr_t *pcs, int n, uintptr_t first)
{
    int skip = 0;

    while (skip < n && pcs[skip] != first)
        skip++;
    if (skip == n)
        return 0;
    memmove(pcs, pcs + skip, (size_t)(n - skip) * sizeof *pcs);
    return n - skip;
}

static FLAME_COLD void ask_libunwind(struct local_stack *s, uintptr_t first)
{
    int n;

    while ((n = fallback_walk(s->pcs, (int)s->cap)) == (int)s->cap && s->cap < MAX_FRAMES)
        if (!reserve(s, s->cap * 4))
            break;
    n = drop_inner(s->pcs, n, first);
    if (n <= 0) { /* not even the caller: that much is known */
        s->pcs[0] = first;
        n = 1;
    }
    for (int i = 0; i < n / 2; i++) {
        uintptr_t pc = s->pcs[i];

        s->pcs[i] = s->pcs[n - 1 - i];
        s->pcs[n - 1 - i] = pc;
    }
    s->len = (uint32_t)n;
}

uint32_t local_walk(struct local_stack *s, struct walk_regs regs, bool *fell_back)
{
    uint32_t kept;

    s->joinable = walk_by_rules(s, regs, &kept);
    *fell_back = !s->joinable || s->len == 0;
    if (likely(!*fell_back))
        return kept;
    s->joinable = false;
    ask_libunwind(s, regs.pc);
    return 0;
}

/* ---- stacks known from before ---- */

uint32_t local_recall(struct local_stack *s, struct walk_regs regs)
{
    struct walk_window w;

    if (unlikely(s->changes != modules_changes()))
        forget_marks(s);
    if (unlikely(!s->recall || !local_window(s, regs.sp, &w)))
        return 0;
    return recall_find(s->recall, &regs, w.hi);
}

void local_mark(struct local_stack *s, uint32_t mark)
{
    /* Steps to another stack, or by guess, depend on more than a word or two. Words of
     * memory that may go are not read before a walk comes to them. */
    if (!s->joinable || s->barrier >= 0 || !s->hi || modules_doubtful(s->pcs, s->len))
        return;
    if (unlikely(!s->recall) && !(s->recall = pages_alloc(sizeof *s->recall)))
        return;
    recall_keep(s->recall, &s->frames[s->len - 1].f.r, s->frames[s->len - 1].needs_bp, s->hi,
                check_of(s, s->len - 1), s->len, mark);
}

int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max)
{
    return drop_inner(pcs, fallback_walk_afresh(pcs, max), regs.pc);
}
