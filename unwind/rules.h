/*
 * rules.h: cache of the rules of cfi.h, by address.
 *
 * A lock-free table: entries are added by compare-and-swap and never change. It is dropped as a
 * whole when addresses begin to mean other code (rules_forget). The old table stays in memory,
 * because another thread may be reading it (unless the rules are marked as `alone`, like a
 * tracer's). No malloc; every function may be called by any thread and in signal handlers.
 */
#ifndef FLAME_UNWIND_RULES_H
#define FLAME_UNWIND_RULES_H

#include "common/hash.h"
#include "unwind/cfi.h"

/* The walk works on packed rules; see rules.c. Never 0. */
typedef uint64_t packed_rule;

struct rule_slot {
    uintptr_t pc;
    packed_rule rule; /* 0: being computed */
};

struct rule_table {
    size_t mask;
    size_t used; /* claimed slots */
    struct rule_slot slots[];
};

packed_rule rule_pack(struct rule rule);
struct rule rule_unpack(packed_rule p);

struct rules {
    struct rule_table *table; /* the newest; NULL before the first rule */
    /* Finds the rule of a new address; `pc` as in rules_find. */
    struct rule (*compile)(void *arg, uintptr_t pc);
    void *arg;
    size_t first_size; /* number of slots of the first table, a power of two; 0: 256 */
    bool alone;        /* one thread only: a table that is replaced is freed */
};

/* The slow path of rules_find: computes the rule and adds it. */
packed_rule rules_compile(struct rules *r, uintptr_t pc);

static inline size_t rules_slot(const struct rule_table *t, uintptr_t pc)
{
    return (pc * HASH_GOLDEN >> 32) & t->mask;
}

/* The rule for the instruction at `pc` (a return address - 1, or an interrupted
 * instruction's own address). Inline: the walk spends its time here. */
static inline packed_rule rules_find(struct rules *r, uintptr_t pc)
{
    const struct rule_table *t = __atomic_load_n(&r->table, __ATOMIC_ACQUIRE);

    if (unlikely(!t))
        return rules_compile(r, pc);
    for (size_t at = rules_slot(t, pc);; at = (at + 1) & t->mask) {
        uintptr_t there = __atomic_load_n(&t->slots[at].pc, __ATOMIC_RELAXED);

        if (likely(there == pc)) {
            packed_rule rule = __atomic_load_n(&t->slots[at].rule, __ATOMIC_ACQUIRE);

            return likely(rule != 0) ? rule : rules_compile(r, pc);
        }
        if (!there)
            return rules_compile(r, pc);
    }
}

/* Makes all rules out of date. The addresses keep their slots, so repeated calls take no more
 * memory. Not for two threads at once; other threads may search for rules meanwhile. */
void rules_forget(struct rules *r);

/* Like rules_forget, but frees the memory; for rules that are `alone`. */
void rules_release(struct rules *r);

static inline enum rule_kind rule_kind_of(packed_rule p)
{
    return (enum rule_kind)(p & 15);
}

static inline bool rule_bp_saved(packed_rule p)
{
    return p >> 4 & 1;
}

static inline bool rule_bp_at_bp(packed_rule p)
{
    return p >> 5 & 1;
}

/* 29-bit signed fields; the shifts extend the sign. */
static inline int64_t rule_cfa_offset(packed_rule p)
{
    return (int64_t)(p << 29) >> 35;
}

static inline int64_t rule_bp_offset(packed_rule p)
{
    return (int64_t)p >> 35;
}

#endif
