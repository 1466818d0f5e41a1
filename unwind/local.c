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
    /* A module without a search table: libunwind may still know its way. */
    if (rule.kind == RULE_NONE && !s.hdr)
        rule.kind = RULE_COMPLEX;
    return rule;
}

void local_after_fork(void)
{
    debugframe_after_fork();
}

void local_forget(struct local_stack *s, uint32_t epoch)
{
    s->joinable = false;

    if (__atomic_exchange_n(&rules_epoch, epoch, __ATOMIC_ACQ_REL) != epoch)
        rules_forget(&rules);
    fallback_forget();
}

/* ---- the stack's bounds ---- */

static FLAME_COLD bool learn_range(struct local_stack *s, uintptr_t sp, struct walk_window *out)
{
    unsigned i = s->next_range++ % ARRAY_LEN(s->range);
    struct procmap map;

    if (!procmaps_find(0, sp, &map) || !map.read)
        return false;
    s->range[i].lo = map.stack && map.start > STACK_GAP ? map.start - STACK_GAP : map.start;
    s->range[i].hi = map.end;
    *out = (struct walk_window){sp, map.end, (const uint8_t *)sp};
    return true;
}

/* The window begins at sp, not at the mapping's start: below sp is nobody's. */
static bool local_window(struct local_stack *s, uintptr_t sp, struct walk_window *out)
{
    for (size_t i = 0; i < ARRAY_LEN(s->range); i++)
        if (sp >= s->range[i].lo && sp < s->range[i].hi) {
            *out = (struct walk_window){sp, s->range[i].hi, (const uint8_t *)sp};
            return true;
        }
    return learn_range(s, sp, out);
}

/* ---- memory ---- */

#define FIRST_FRAMES 256u
#define MAX_FRAMES (1u << 21) /* 8 MiB of stack holds half a million of 16 bytes */

struct local_frame {
    struct frame_state f;
    struct step_words words; /* of the step to the next outer frame */
};

static bool reserve(struct local_stack *s, uint32_t cap)
{
    uintptr_t *pcs = pages_alloc(cap * sizeof *pcs);
    struct local_frame *frames = pages_alloc(cap * sizeof *frames);
    struct local_frame *fresh = pages_alloc(cap * sizeof *fresh);

    if (!pcs || !frames || !fresh) {
        pages_free(pcs, cap * sizeof *pcs);
        pages_free(frames, cap * sizeof *frames);
        pages_free(fresh, cap * sizeof *fresh);
        return false;
    }
    if (s->cap) {
        memcpy(pcs, s->pcs, s->cap * sizeof *pcs);
        memcpy(frames, s->frames, s->cap * sizeof *frames);
        memcpy(fresh, s->fresh, s->cap * sizeof *fresh);
        local_stack_release(s);
    }
    s->pcs = pcs;
    s->frames = frames;
    s->fresh = fresh;
    s->cap = cap;
    return true;
}

bool local_stack_init(struct local_stack *s)
{
    return reserve(s, FIRST_FRAMES);
}

void local_stack_release(struct local_stack *s)
{
    pages_free(s->pcs, s->cap * sizeof *s->pcs);
    pages_free(s->frames, s->cap * sizeof *s->frames);
    pages_free(s->fresh, s->cap * sizeof *s->fresh);
}

/* ---- joining the last walk ---- */

static inline bool same_state(const struct frame_state *a, const struct frame_state *b)
{
    return a->r.sp == b->r.sp && a->r.pc == b->r.pc && a->r.bp == b->r.bp && a->kind == b->kind;
}

/* The step out of frame k would read what it read last time. */
static inline bool words_hold(const struct local_frame *k, const struct local_frame *outer)
{
    const uintptr_t *bp_at = k->words.bp_at ? (const uintptr_t *)k->words.bp_at : &outer->f.r.bp;

    return k->words.ra_at && *(const uintptr_t *)k->words.ra_at == outer->f.r.pc &&
           *bp_at == outer->f.r.bp;
}

/* Where kept frames stop to hold: the step out of frame `at` came out as this. */
struct divergence {
    int at; /* -1: nowhere, all the rest holds */
    struct frame_state f;
    enum step step;
    struct step_words words;
};

/* Looks at kept frames from `from` outwards. */
static void check_kept(struct local_stack *s, int from, struct divergence *d)
{
    for (int k = from;; k--) {
        struct walk_window w;

        while (k > 0 && likely(words_hold(&s->frames[k], &s->frames[k - 1])))
            k--;
        d->at = k;
        d->f = s->frames[k].f;
        d->step = STEP_LOST;
        if (local_window(s, d->f.r.sp, &w))
            d->step = step_out(&rules, &w, &d->f, &d->words);
        if (k == 0) {
            if (d->step == STEP_END)
                d->at = -1;
            return;
        }
        if ((d->step != STEP_OK && d->step != STEP_STACK) ||
            !same_state(&d->f, &s->frames[k - 1].f))
            return;
        s->frames[k].words = d->words;
    }
}

/* ---- the walk ---- */

static inline bool push(struct local_stack *s, uint32_t *n, struct frame_state f,
                        struct step_words words)
{
    if (unlikely(*n == s->cap) && (s->cap >= MAX_FRAMES || !reserve(s, s->cap * 4)))
        return false;
    s->fresh[(*n)++] = (struct local_frame){f, words};
    return true;
}

/* The kept frames [0, kept) and then the fresh ones become the stack. */
static bool conclude(struct local_stack *s, uint32_t kept, uint32_t n)
{
    while (kept + n > s->cap)
        if (s->cap >= MAX_FRAMES || !reserve(s, s->cap * 4))
            return false;
    for (uint32_t i = 0; i < n; i++) {
        s->frames[kept + i] = s->fresh[n - 1 - i];
        s->pcs[kept + i] = s->fresh[n - 1 - i].f.r.pc;
    }
    s->len = kept + n;
    return true;
}

/* False: libunwind must be asked. *kept is how many outer frames were taken over. */
static bool walk_by_rules(struct local_stack *s, struct walk_regs regs, uint32_t *kept)
{
    struct frame_state f = {.r = regs};
    struct walk_window w = {0};
    int old = s->joinable ? (int)s->len - 1 : -1;
    uint32_t n = 0;

    *kept = 0;
    if (unlikely(!local_window(s, regs.sp, &w)))
        return false;
    for (;;) {
        struct frame_state here = f;
        struct step_words words;
        enum step step;
        bool moved = false; /* perhaps to another stack */

        while (old >= 0 && s->frames[old].f.r.sp < f.r.sp)
            old--;
        if (old >= 0 && same_state(&s->frames[old].f, &f)) {
            struct divergence d;

            check_kept(s, old, &d);
            if (likely(d.at < 0)) {
                *kept = (uint32_t)old + 1;
                return conclude(s, *kept, n);
            }
            /* Frames up to there have new callers: they are fresh ones now. */
            for (; old > d.at; old--)
                if (!push(s, &n, s->frames[old].f, s->frames[old].words))
                    return false;
            here = s->frames[old--].f;
            f = d.f;
            step = d.step;
            words = d.words;
            moved = true;
        } else {
            step = step_out(&rules, &w, &f, &words);
        }
        if (step == STEP_BOGUS)
            return conclude(s, 0, n);
        if (!push(s, &n, here, words))
            return false;
        if (step == STEP_END)
            return conclude(s, 0, n);
        if (unlikely(step == STEP_LOST))
            return false;
        if (unlikely(moved || step == STEP_STACK) && !local_window(s, f.r.sp, &w))
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

int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max)
{
    return drop_inner(pcs, fallback_walk_afresh(pcs, max), regs.pc);
}
