/*
 * Problem: a program allocates from the same stacks over and over. If they alternate, even a walk
 * that joins the previous one costs some hundred instructions.
 *
 * Algorithm: a table of heads, each pointing into a ring of checks. A stack's checks lie one after
 * the other, so they are made in groups, with overlapping cache misses and one branch a group. The
 * ring overwrites the oldest checks; a head whose checks are overwritten is dead.
 *
 * A stack has its head in two places. The first is found by pc and sp of the walk's beginning, and
 * has the latest stack that began with them. The second is found by these and some words of the
 * stack, which distinguish callers further out. The words are those that were the return addresses
 * of one stack with this pc and sp (the pilot). For other stacks they may be anything, since they
 * are only hashed.
 *
 * For programs with many stacks and little repetition the cache pauses, see judge.
 *
 * Rejected: frames that point to their callers, so that stacks share their outer ends. That takes
 * less memory, but each frame's check has to wait for the previous one.
 */
#include "common/hash.h"
#include "unwind/stack_cache.h"

static inline uint64_t hash_regs(const struct walk_regs *regs)
{
    return (regs->pc ^ (regs->sp << 21 | regs->sp >> 43)) * HASH_GOLDEN;
}

static inline uint64_t hash_words(uint64_t hash, const struct stack_cache_pilot *p)
{
    for (uint32_t i = 0; i < STACK_CACHE_WORDS; i++)
        hash = (hash << 7 | hash >> 57) + *p->words[i];
    return hash * HASH_GOLDEN;
}

static inline struct stack_cache_head *head_at(struct stack_cache *r, uint64_t hash)
{
    return &r->heads[hash >> 54];
}

static inline struct stack_cache_pilot *pilot_at(struct stack_cache *r, uint64_t hash)
{
    return &r->pilots[hash >> 56];
}

static inline bool holds(const struct stack_cache *r, const struct stack_cache_head *h)
{
    uint32_t at = h->first % STACK_CACHE_CHECKS;

    for (uint32_t left = h->n; left; left -= CHECK_GROUP, at -= CHECK_GROUP)
        if (unlikely(group_differs(&r->checks[at]) != 0))
            return false;
    return true;
}

/* Decides at the end of a window whether the cache pays. */
static FLAME_COLD void judge(struct stack_cache *r)
{
    if (r->hits < STACK_CACHE_WORTH)
        r->rest = STACK_CACHE_REST;
    r->tries = r->hits = 0;
}

static inline bool is_known(const struct stack_cache *r, const struct stack_cache_head *h,
                            const struct walk_regs *regs, uintptr_t hi)
{
    return ((h->pc ^ regs->pc) | (h->sp ^ regs->sp) | ((h->bp ^ regs->bp) & h->bp_mask) |
            (h->hi ^ hi)) == 0 &&
           h->mark && r->kept - h->first <= STACK_CACHE_CHECKS - STACK_CACHE_MOST - CHECK_GROUP &&
           holds(r, h);
}

uint32_t stack_cache_find(struct stack_cache *r, const struct walk_regs *regs, uintptr_t hi)
{
    uint64_t hash = hash_regs(regs);
    const struct stack_cache_head *h = head_at(r, hash);
    const struct stack_cache_pilot *p;

    if (r->rest) {
        r->rest--;
        return 0;
    }
    if (unlikely(++r->tries == STACK_CACHE_WINDOW))
        judge(r);
    if (!is_known(r, h, regs, hi)) {
        p = pilot_at(r, hash);
        if (p->pc != regs->pc || p->sp != regs->sp || p->hi != hi)
            return 0;
        h = head_at(r, hash_words(hash, p));
        if (!is_known(r, h, regs, hi))
            return 0;
    }
    r->hits++;
    return h->mark;
}

static void set_pilot(struct stack_cache_pilot *p, const struct walk_regs *regs, uintptr_t hi,
                      const struct walk_check *innermost, uint32_t n)
{
    *p = (struct stack_cache_pilot){.pc = regs->pc, .sp = regs->sp, .hi = hi};
    for (uint32_t i = 0; i < STACK_CACHE_WORDS; i++)
        p->words[i] = (innermost - (i < n ? i : n - 1))->ra_at;
}

void stack_cache_keep(struct stack_cache *r, const struct walk_regs *regs, bool needs_bp,
                      uintptr_t hi, const struct walk_check *innermost, uint32_t n, uint32_t mark)
{
    uint32_t whole = (n + CHECK_GROUP - 1) / CHECK_GROUP * CHECK_GROUP, at;
    uint64_t hash = hash_regs(regs);
    struct stack_cache_pilot *p = pilot_at(r, hash);
    struct stack_cache_head *h = head_at(r, hash);

    if (r->rest || !n || n > STACK_CACHE_MOST)
        return;
    at = r->kept % STACK_CACHE_CHECKS;
    if (at + whole > STACK_CACHE_CHECKS) { /* the checks must not wrap around the ring's end */
        r->kept += STACK_CACHE_CHECKS - at;
        at = 0;
    }
    memcpy(&r->checks[at], innermost + 1 - whole, whole * sizeof *innermost);
    r->kept += whole;
    *h = (struct stack_cache_head){.pc = regs->pc,
                                   .sp = regs->sp,
                                   .bp = regs->bp,
                                   .bp_mask = needs_bp ? UINTPTR_MAX : 0,
                                   .hi = hi,
                                   .first = r->kept - 1,
                                   .n = whole,
                                   .mark = mark};
    if (p->pc != regs->pc || p->sp != regs->sp || p->hi != hi)
        set_pilot(p, regs, hi, innermost, n);
    *head_at(r, hash_words(hash, p)) = *h;
}

void stack_cache_clear(struct stack_cache *r)
{
    for (uint32_t i = 0; i < STACK_CACHE_HEADS; i++)
        r->heads[i].mark = 0;
}
