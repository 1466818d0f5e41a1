/*
 * Problem: successive calls of malloc come from stacks that differ in a few inner frames, and
 * walking the rest again is most of the cost of recording.
 *
 * Algorithm: each thread stores the frames of its last walk, with the addresses of the words that
 * decided each step (where the return address and the saved frame pointer were read). When a walk
 * meets a frame with the same pc, sp and bp as a stored one, it reads those words again. If all
 * have the same values, every further step would give the same result, so the walk reuses the
 * stored frames. That is exact, because the steps depend on nothing else. The reads of different
 * frames do not wait for each other, so a frame costs under a nanosecond, while a step by its rule
 * costs several. If a word differs, the walk continues from there by rule, and may join the stored
 * frames again further out.
 *
 * Rejected: rewriting return addresses to detect returns (crashes with exceptions, longjmp,
 * coroutines); trusting an unchanged sp and pc without reading the words (two callers can leave the
 * same values).
 */
#define _GNU_SOURCE
#include "unwind/local.h"

#include <link.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "unwind/coderules.h"
#include "unwind/debugframe.h"
#include "unwind/epilogue.h"
#include "unwind/fallback.h"
#include "unwind/modules.h"
#include "unwind/sharedrules.h"
#include "unwind/step.h"

static struct rule compile(void *arg, uintptr_t pc);

static struct rules rules = {.compile = compile};
static struct spinlock forgetting; /* held while a thread drops the rules */
static uint32_t rules_epoch;

struct rules *local_rules(void)
{
    return &rules;
}

int local_init(const char **why)
{
    return fallback_init(why);
}

/* ---- rules ---- */

/* Memo of the last compilation, for one thread at a time. A thread that finds it in use compiles
 * without it. */
static struct {
    bool taken;
    uint32_t epoch; /* epoch of modules in which the memo is valid */
    struct cfi_memo memo;
} last_look;

static struct rule rule_at(const struct cfi_section *s, uintptr_t pc)
{
    struct rule rule;

    if (__atomic_test_and_set(&last_look.taken, __ATOMIC_ACQUIRE))
        return cfi_rule_at(s, pc);
    if (last_look.epoch != modules_epoch()) {
        last_look.epoch = modules_epoch();
        last_look.memo = (struct cfi_memo){.fde = NULL};
    }
    rule = cfi_rule_from(s, pc, &last_look.memo);
    __atomic_clear(&last_look.taken, __ATOMIC_RELEASE);
    return rule;
}

static struct rule compile(void *arg FLAME_UNUSED, uintptr_t pc)
{
    struct module m;
    struct cfi_section s = {.hdr = NULL};
    struct rule rule;

    if (!modules_note(pc, &m))
        return coderules_find(pc);
    if (sharedrules_find(m.rules, pc - m.bias, &rule))
        return rule;
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
    rule = rule_at(&s, pc);
    sharedrules_add(m.rules, pc - m.bias, rule);
    if (rule.kind == RULE_NONE)
        rule = debugframe_rule(&m, pc);
    /* musl-gcc links without a search table, and BOLT may do so. */
    if (rule.kind == RULE_NONE && !s.hdr)
        rule = debugframe_unlisted(&m, pc);
    /* No call returns to the beginning of a function: makecontext stored this address, and the
     * frame pointer has the value of the place where the context was made. */
    if (rule.kind == RULE_NONE && cfi_rule_at(&s, pc + 1).kind != RULE_NONE)
        rule.kind = RULE_END;
    /* A module without a search table: libunwind may still have its tables. */
    if (rule.kind == RULE_NONE && !s.hdr && FALLBACK_IS_BUILT)
        rule.kind = RULE_COMPLEX;
    return rule;
}

void local_after_fork(void)
{
    forgetting.held = 0;
    debugframe_after_fork();
    /* Another thread may have held it at the fork. */
    __atomic_clear(&last_look.taken, __ATOMIC_RELEASE);
    last_look.memo.fde = NULL;
}

/* Number of times that code made at run time was unmapped. */
static uint32_t code_gone;

/* Counter of changes: while it stays the same, no address has begun to mean other code. */
static inline uint32_t changes(void)
{
    return modules_changes() + __atomic_load_n(&code_gone, __ATOMIC_RELAXED);
}

/* Drops all marks: addresses may mean other code by now. */
static FLAME_COLD void forget_marks(struct local_stack *s)
{
    s->changes = changes();
    if (s->recall)
        stack_cache_clear(s->recall);
}

void local_code_goes(uintptr_t lo, uintptr_t hi)
{
    if (likely(!coderules_gone(lo, hi)))
        return;
    spinlock_take(&forgetting);
    rules_forget(&rules);
    spinlock_drop(&forgetting);
    __atomic_fetch_add(&code_gone, 1, __ATOMIC_RELEASE);
}

void local_stack_pass_on(struct local_stack *s)
{
    s->joinable = false;
    s->ranges = (struct stack_ranges){0};
    forget_marks(s);
}

void local_drop_marks(struct local_stack *s)
{
    s->unmarked = 0;
    if (!s->kept)
        pages_free(s->recall, sizeof *s->recall);
    s->recall = NULL;
    s->kept = false;
}

/* The second of two threads finds that the rules have been dropped already. */
static void forget_rules(uint32_t epoch)
{
    spinlock_take(&forgetting);
    if (rules_epoch != epoch)
        rules_forget(&rules);
    rules_epoch = epoch;
    spinlock_drop(&forgetting);
}

void local_forget(struct local_stack *s, uint32_t epoch)
{
    s->joinable = false;
    forget_marks(s);
    forget_rules(epoch);
    fallback_forget();
}

/* ---- memory ---- */

#define MAX_FRAMES (1u << 24) /* 256 MiB of stack hold this many frames of 16 bytes */

/* Number of middle frames that one walk checks in a stack of which not all frames are checked. */
#define LOOK_BETWEEN 16

struct local_frame {
    struct frame_state f; /* in a stored frame that does not need bp, f.r.bp may be out of date */
    struct step_words words; /* of the step to the next outer frame */
    uintptr_t needs_bp;      /* a step from here on depends on f.r.bp */
};

/* Copies word by word: a larger load of words that were just stored would have to wait for the
 * stores. */
static inline void copy_state(struct frame_state *to, const struct frame_state *from)
{
    to->r.pc = from->r.pc;
    to->r.sp = from->r.sp;
    to->r.bp = from->r.bp;
#if ARCH_LINK
    to->r.lr = from->r.lr;
#endif
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

/* Number of checks before the outermost frame's. They always hold, and complete its group. */
#define BEFORE (CHECK_GROUP - 1)

/* The arrays of stored frames lie in one block: checks, frames, pcs. */
static size_t kept_size(uint32_t cap)
{
    return (cap + BEFORE) * sizeof(struct walk_check) +
           cap * (sizeof(struct local_frame) + sizeof(uintptr_t));
}

static void place_kept(struct local_stack *s, void *block, uint32_t cap)
{
    s->checks = block;
    s->frames = (struct local_frame *)(s->checks + BEFORE + cap);
    s->pcs = (uintptr_t *)(s->frames + cap);
    s->cap = cap;
}

/* Makes more room for stored frames. False: nothing has changed. */
static bool reserve(struct local_stack *s, uint32_t cap)
{
    uint32_t had = s->cap;
    struct local_stack old;
    void *block;

    if (had > LOCAL_SMALL)
        block = pages_resize(s->checks, kept_size(had), kept_size(cap));
    else if ((block = pages_alloc(kept_size(cap))))
        memcpy(block, s->checks, kept_size(had));
    if (!block)
        return false;
    place_kept(s, block, had);
    old = *s;
    place_kept(s, block, cap);
    /* The last array first: its new place is after all the old ones. */
    memmove(s->pcs, old.pcs, had * sizeof *s->pcs);
    memmove(s->frames, old.frames, had * sizeof *s->frames);
    return true;
}

/* Like reserve, for the frames of a walk in progress. */
static bool reserve_fresh(struct local_stack *s, uint32_t cap)
{
    size_t had = s->fresh_cap * sizeof *s->fresh, size = cap * sizeof *s->fresh;
    struct local_frame *more;

    if (s->fresh_cap > LOCAL_SMALL)
        more = pages_resize(s->fresh, had, size);
    else if ((more = pages_alloc(size)))
        memcpy(more, s->fresh, had);
    if (!more)
        return false;
    s->fresh = more;
    s->fresh_cap = cap;
    return true;
}

void local_stack_init(struct local_stack *s, uint32_t ends, struct local_small *small)
{
    _Static_assert(LOCAL_SMALL_SIZE ==
                       (LOCAL_SMALL + BEFORE) * sizeof(struct walk_check) +
                           LOCAL_SMALL * (2 * sizeof(struct local_frame) + sizeof(uintptr_t)),
                   "struct local_small");
    *s = (struct local_stack){.ends = ends};
    place_kept(s, small->bytes, LOCAL_SMALL);
    for (uint32_t i = 0; i < BEFORE; i++)
        s->checks[i] = (struct walk_check){&step_no_word, &step_no_word, 0, 0};
    s->fresh = (struct local_frame *)(small->bytes + kept_size(LOCAL_SMALL));
    s->fresh_cap = LOCAL_SMALL;
}

void local_stack_release(struct local_stack *s)
{
    if (s->cap > LOCAL_SMALL)
        pages_free(s->checks, kept_size(s->cap));
    if (s->fresh_cap > LOCAL_SMALL)
        pages_free(s->fresh, s->fresh_cap * sizeof *s->fresh);
    pages_free(s->recall, sizeof *s->recall);
}

/* ---- joining the last walk ---- */

/* Whether `f` equals the stored frame in everything that the walk from there on depends on. */
static inline bool same_frame(const struct local_frame *kept, const struct frame_state *f)
{
#if ARCH_LINK
    if (unlikely(kept->f.r.lr != f->r.lr))
        return false;
#endif
    return ((kept->f.r.sp ^ f->r.sp) | (kept->f.r.pc ^ f->r.pc) | (kept->f.kind ^ f->kind) |
            (kept->needs_bp ? kept->f.r.bp ^ f->r.bp : 0)) == 0;
}

/* Check of frame `i`, counted from the outermost. */
static inline struct walk_check *check_of(struct local_stack *s, uint32_t i)
{
    return &s->checks[i + BEFORE];
}

/* Sets whether frame `i` needs bp, and its check, from its words and the next outer frame. */
static inline void set_check(struct local_stack *s, uint32_t i)
{
    struct local_frame *frame = &s->frames[i];
    const struct local_frame *outer = i ? frame - 1 : NULL;
    bool bp_matters = outer && outer->needs_bp;
    struct walk_check *c = check_of(s, i);

    frame->needs_bp = frame->words.uses_bp || (bp_matters && !frame->words.bp_at);
    c->ra_at = c->bp_at = (const uintptr_t *)frame->words.ra_at;
    c->ra = c->bp = outer ? arch_signed(frame->words.ra_at, outer->f.r.pc) : 0;
    if (bp_matters && frame->words.bp_at) {
        c->bp_at = (const uintptr_t *)frame->words.bp_at;
        c->bp = outer->f.r.bp;
    }
    if (unlikely(!frame->words.ra_at)) {
        c->ra_at = c->bp_at = &step_no_word;
        c->ra = c->bp = 1;
    }
}

/* The innermost frame from `k` outwards to `last` whose check fails; last - 1: no check fails. It
 * also reads words beyond the check that fails. That is safe only within one piece of memory:
 * inside s->barrier, while that memory is certain to be mapped as before (`as_mapped`). */
FLAME_INLINE int first_failing(struct local_stack *s, int k, int last, bool as_mapped)
{
    const struct walk_check *c = check_of(s, (uint32_t)k);
    int end = last ? last - 1 : -(int)CHECK_GROUP;

    if (unlikely(s->barrier >= last))
        end = s->barrier;
    if (likely(as_mapped))
        for (; k - (int)CHECK_GROUP >= end; k -= (int)CHECK_GROUP, c -= CHECK_GROUP)
            if (unlikely(group_differs(c) != 0))
                break;
    for (; k >= last && !check_differs(c); c--)
        k--;
    return k;
}

/* Frame at which stored frames stop being valid, with the result of the step out of frame `at`. */
struct divergence {
    int at; /* -1: all the other stored frames are valid */
    struct frame_state f;
    enum step step;
    struct step_words words;
};

/* Updates bp in the stored frames from `from`, whose bp is `bp`, out to `to`; the checks in between
 * hold. */
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

/* Checks stored frames from `from`, whose bp is `bp`, outwards to `last`. */
FLAME_INLINE void check_kept(struct local_stack *s, int from, int last, uintptr_t bp,
                             bool as_mapped, struct divergence *d)
{
    for (int k = from;; bp = d->f.r.bp) {
        struct walk_window w;
        int begin = k;

        k = first_failing(s, k, last, as_mapped);
        d->at = k < last ? -1 : k;
        if (likely(k < last))
            return;
        update_bp(s, begin, k, bp);
        copy_state(&d->f, &s->frames[k].f);
        d->step = STEP_LOST;
        if (stackrange_window(&s->ranges, d->f.r.sp, &w))
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

/* Checks a few of the stored frames [outer, inner), and other ones the next time. */
static bool look_between(struct local_stack *s, int outer, int inner)
{
    int last;

    if (s->look >= inner || s->look < outer + LOOK_BETWEEN)
        s->look = inner - 1;
    last = s->look - LOOK_BETWEEN + 1;
    if (first_failing(s, s->look, last, true) >= last)
        return false;
    s->look = last - 1;
    return true;
}

/*
 * Checks parts of a stack that is deeper than the caller needs: its inner end, of which n frames
 * are fresh, its outer end, and a few frames in between. False: the stack is not that deep, or a
 * check failed; then all frames must be checked.
 */
static FLAME_NOINLINE bool check_ends(struct local_stack *s, int from, uintptr_t bp, uint32_t n,
                                      struct divergence *d)
{
    int outer = (int)s->ends, inner = from + 1 + (int)n - outer;

    /* There may be more fresh frames than the caller needs; then no stored frame belongs to the
     * inner end. */
    if (inner > from + 1)
        inner = from + 1;
    if (s->barrier >= 0 || inner - outer < LOCAL_BETWEEN)
        return false;
    d->at = -1;
    if (inner <= from)
        check_kept(s, from, inner, bp, true, d);
    return d->at >= 0 ||
           (first_failing(s, outer - 1, 0, true) < 0 && look_between(s, outer, inner));
}

/* Checks all stored frames that the caller needs. */
static inline void check_rest(struct local_stack *s, int from, uintptr_t bp, uint32_t n,
                              bool as_mapped, struct divergence *d)
{
    if (unlikely(from > LOCAL_BETWEEN && as_mapped) && check_ends(s, from, bp, n, d))
        return;
    check_kept(s, from, 0, bp, as_mapped, d);
}

/* ---- the walk ---- */

static FLAME_COLD bool widen(struct local_stack *s)
{
    return s->cap < MAX_FRAMES && reserve(s, s->cap * 2);
}

static FLAME_COLD bool widen_fresh(struct local_stack *s)
{
    return s->fresh_cap < MAX_FRAMES && reserve_fresh(s, s->fresh_cap * 2);
}

/* The innermost frame from `k` outwards whose step no words can confirm. */
static FLAME_COLD int find_barrier(struct local_stack *s, int k)
{
    while (k >= 0 &&
           !(check_of(s, (uint32_t)k)->ra_at == &step_no_word && check_of(s, (uint32_t)k)->ra))
        k--;
    return k;
}

/* Makes the stored frames [0, kept) and the fresh ones the stack, whose inner end lies in memory
 * that is mapped up to `hi`. */
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

/* Makes the step out of one frame by libunwind, because no rule can. Only this one: libunwind has
 * no rules for code without tables further out, and would end there or go astray. No words confirm
 * the step. */
static FLAME_COLD bool step_by_libunwind(struct local_stack *s, struct frame_state *f,
                                         struct local_frame *of)
{
    packed_rule rule = rules_find(&rules, frame_code(f));

    if (f->kind != FRAME_CALL || rule_kind_of(rule) != RULE_COMPLEX || !fallback_is_ready() ||
        !fallback_step(&f->r))
        return false;
    of->words = (struct step_words){.uses_bp = 1};
    s->asked = true;
    return true;
}

/* Walks by rules. False: libunwind is needed, and the *known innermost frames of s->fresh are
 * right. *kept is the number of stored outer frames that were reused. */
static bool walk_by_rules(struct local_stack *s, struct walk_regs regs, uint32_t *kept,
                          uint32_t *known)
{
    struct frame_state f = {.r = regs};
    struct walk_window w = {0};
    int old = s->joinable ? (int)s->len - 1 : -1;
    uint32_t n = 0;
    uintptr_t hi;

    *kept = *known = 0;
    if (unlikely(!stackrange_window(&s->ranges, regs.sp, &w)))
        return false;
    hi = w.sure ? w.hi : 0;
    for (;; n++) {
        enum step step;

        while (old >= 0 && s->frames[old].f.r.sp < f.r.sp)
            old--;
        if (unlikely(n == s->fresh_cap) && !widen_fresh(s))
            return false;
        if (old >= 0 && same_frame(&s->frames[old], &f)) {
            struct divergence d;

            check_rest(s, old, f.r.bp, n, w.hi == s->hi, &d);
            if (likely(d.at < 0)) {
                *kept = (uint32_t)old + 1;
                return conclude(s, *kept, n, hi);
            }
            /* The frames up to that one have new callers: they become fresh ones. */
            for (; old > d.at; old--, n++) {
                if (unlikely(n + 1 >= s->fresh_cap) && !widen_fresh(s))
                    return false;
                copy_frame(&s->fresh[n], &s->frames[old]);
            }
            copy_frame(&s->fresh[n], &s->frames[old--]);
            copy_words(&s->fresh[n].words, &d.words);
            copy_state(&f, &d.f);
            step = d.step;
            if (step == STEP_OK)
                step = STEP_STACK; /* frames further out may lie on another stack than `w` */
        } else {
            copy_state(&s->fresh[n].f, &f);
            step = step_out(&rules, &w, &f, &s->fresh[n].words);
        }
        if (unlikely(step == STEP_LOST) && step_by_libunwind(s, &f, &s->fresh[n]))
            step = STEP_STACK;
        if (step == STEP_BOGUS)
            return conclude(s, 0, n, hi);
        if (step == STEP_END)
            return conclude(s, 0, n + 1, hi);
        if (unlikely(step == STEP_LOST ||
                     (step == STEP_STACK && !stackrange_window(&s->ranges, f.r.sp, &w)))) {
            *known = n + 1;
            return false;
        }
    }
}

/* libunwind begins inside the recorder: drops the frames further in than regs.pc's. */
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
        if (!reserve(s, s->cap * 2))
            break;
    n = drop_inner(s->pcs, n, first);
    for (int i = 0; i < n; i++)
        if (step_to(s->pcs[i]) != STEP_OK)
            n = i;
    if (n <= 0) { /* libunwind found not even the caller, which is known */
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

/* Stores the part of the stack that the rules could walk. */
static FLAME_COLD void keep_known(struct local_stack *s, uint32_t n, uintptr_t first)
{
    while (s->cap < n && widen(s))
        ;
    if (n > s->cap)
        n = s->cap;
    s->interrupted = false;
    for (uint32_t i = 0; i < n; i++) {
        s->pcs[n - 1 - i] = s->fresh[i].f.r.pc;
        s->interrupted = s->interrupted || s->fresh[i].f.kind & FRAME_EXACT;
    }
    if (!n)
        s->pcs[n++] = first;
    s->len = n;
}

/* Whether libunwind ended in code without tables, or came from there to an address without code.
 * Neither is an outermost frame. */
static bool has_lost_its_way(const struct local_stack *s)
{
    uintptr_t pc = s->pcs[0] - 1;
    enum rule_kind kind;

    if (!modules_note(pc, NULL))
        return true;
    kind = rule_kind_of(rules_find(&rules, pc));
    return kind == RULE_NONE || kind == RULE_COMPLEX;
}

/* Marks the frames further out as unknown. */
static void mark_cut(struct local_stack *s)
{
    if (s->len == s->cap && !widen(s))
        return;
    memmove(s->pcs + 1, s->pcs, s->len * sizeof *s->pcs);
    s->pcs[0] = LOCAL_CUT;
    s->len++;
}

/* Walks by libunwind. If libunwind cannot walk further, the stack ends where the rules ended, which
 * make no guess that cannot be checked. */
static FLAME_COLD void walk_otherwise(struct local_stack *s, uint32_t known, uintptr_t first)
{
    if (!fallback_is_ready()) {
        keep_known(s, known, first);
        return;
    }
    ask_libunwind(s, first);
    if (likely(!has_lost_its_way(s)))
        return;
    keep_known(s, known, first);
    mark_cut(s);
}

uint32_t local_walk(struct local_stack *s, struct walk_regs regs, bool *fell_back)
{
    uint32_t kept, known;

    if (unlikely(s->changes != changes())) {
        s->joinable = false;
        forget_marks(s);
    }
    s->asked = false;
    s->joinable = walk_by_rules(s, regs, &kept, &known);
    if (likely(s->joinable && s->len)) {
        *fell_back = s->asked;
        return kept;
    }
    *fell_back = true;
    s->joinable = false;
    walk_otherwise(s, known, regs.pc);
    return 0;
}

bool local_holds(const struct local_stack *s, uint32_t i, uintptr_t at)
{
    return s->joinable && at >= s->frames[i].f.r.sp && (!i || at < s->frames[i - 1].f.r.sp);
}

/* ---- guesses ---- */

/* Limit of frames whose code is read. */
#define GUESSES_MOST 32

bool local_guess_holds(const struct local_stack *s, int tid)
{
    uint8_t code[GUESSES_MOST][EPILOGUE_BYTES];
    struct iovec there[GUESSES_MOST], here = {code, 0};
    unsigned n = 0;

    for (int i = s->barrier; i >= 0; i--) {
        uintptr_t at = frame_code(&s->frames[i].f);

        if (rule_kind_of(rules_find(&rules, at)) != RULE_NONE)
            continue;
        if (i == 0 || n == GUESSES_MOST)
            return false;
        there[n++] = (struct iovec){(void *)(at + 1), EPILOGUE_BYTES}; /* NOLINT */
    }
    here.iov_len = n * sizeof *code;
    if (n && kernel_call(SYS_process_vm_readv, tid, &here, 1, there, n, 0) != (long)here.iov_len)
        return false;
    for (unsigned i = 0; i < n; i++) {
        struct rule rule = epilogue_rule(code[i], EPILOGUE_BYTES);

        if (rule.kind != RULE_NONE && !epilogue_has_frame(rule))
            return false;
    }
    return true;
}

/* ---- marked stacks ---- */

#define STACK_CACHE_AFTER 512u /* number of a thread's stacks after which marks are stored */

uint32_t local_recall(struct local_stack *s, struct walk_regs regs)
{
    struct walk_window w;

    if (unlikely(s->changes != changes()))
        forget_marks(s);
    if (unlikely(!s->recall || !stackrange_window(&s->ranges, regs.sp, &w)))
        return 0;
    return stack_cache_find(s->recall, &regs, w.hi ^ s->context);
}

/* The key of a mark is the end of the memory that its words lie in. That is the beginning of a page
 * below 2^47, so the other bits have room for the context. */
void local_set_context(struct local_stack *s, uint32_t context)
{
    s->context = (context & 0xfff) | (uintptr_t)(context >> 12) << 48;
}

/* Begins to store marks, late: a short-lived process would pay for the memory and never benefit
 * from it. */
static FLAME_COLD bool begin_recall(struct local_stack *s)
{
    if (++s->unmarked < STACK_CACHE_AFTER)
        return false;
    s->recall = pages_alloc(sizeof *s->recall);
    s->kept = s->recall && pages_keep(s->recall, sizeof *s->recall);
    return s->recall != NULL;
}

void local_mark(struct local_stack *s, uint32_t mark)
{
    /* Steps to another stack, or by guess, depend on more than a word or two. Words in memory that
     * may be unmapped are not read before a walk reaches them. */
    if (!s->joinable || s->barrier >= 0 || !s->hi || s->len > STACK_CACHE_MOST ||
        modules_may_have_changed(s->pcs, s->len))
        return;
    if (unlikely(!s->recall) && !begin_recall(s))
        return;
    stack_cache_keep(s->recall, &s->frames[s->len - 1].f.r, s->frames[s->len - 1].needs_bp,
                     s->hi ^ s->context, check_of(s, s->len - 1), s->len, mark);
}

int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max)
{
    return drop_inner(pcs, fallback_walk_afresh(pcs, max), regs.pc);
}
