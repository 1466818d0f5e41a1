/*
 * A packed rule:  63      35 34        6  5       4       3   0
 *                +----------+----------+--------+--------+------+
 *                |bp_offset |cfa_offset|bp_at_bp|bp_saved| kind |
 *                +----------+----------+--------+--------+------+
 *
 * The table is open addressing with linear probing. A writer claims a slot by swapping its pc in,
 * then stores the rule; a reader that finds the pc but no rule yet computes it for itself. When it
 * is half full, a table of twice the size replaces it, with a copy of its entries. No thread waits
 * for that, and rules that are added to the old table meanwhile are computed again. The table
 * begins small, so that it lies in few cache lines and pages.
 */
#include "unwind/rules.h"

#include "common/pages.h"

#define FIRST_SIZE ((size_t)1 << 8)
#define QUICKLY ((size_t)1 << 10) /* smaller tables grow by more than twice */

packed_rule rule_pack(struct rule rule)
{
    return (packed_rule)rule.kind | (packed_rule)rule.bp_saved << 4 |
           (packed_rule)rule.bp_at_bp << 5 |
           ((packed_rule)(uint32_t)rule.cfa_offset & 0x1fffffff) << 6 |
           (packed_rule)(uint32_t)rule.bp_offset << 35;
}

struct rule rule_unpack(packed_rule p)
{
    return (struct rule){.kind = (uint8_t)rule_kind_of(p),
                         .bp_saved = rule_bp_saved(p),
                         .bp_at_bp = rule_bp_at_bp(p),
                         .cfa_offset = (int32_t)rule_cfa_offset(p),
                         .bp_offset = (int32_t)rule_bp_offset(p)};
}

static struct rule_table *new_table(size_t size)
{
    struct rule_table *t = pages_alloc(sizeof *t + size * sizeof t->slots[0]);

    if (!t)
        return NULL;
    pages_fill(t, sizeof *t + size * sizeof t->slots[0]);
    t->mask = size - 1;
    return t;
}

/* `t` is not visible to other threads yet, and larger than `old`. */
static void copy_rules(struct rule_table *t, const struct rule_table *old)
{
    for (size_t i = 0; i <= old->mask; i++) {
        uintptr_t pc = __atomic_load_n(&old->slots[i].pc, __ATOMIC_RELAXED);
        packed_rule rule = __atomic_load_n(&old->slots[i].rule, __ATOMIC_ACQUIRE);
        size_t at = rules_slot(t, pc);

        if (!pc || !rule)
            continue;
        while (t->slots[at].pc)
            at = (at + 1) & t->mask;
        t->slots[at] = (struct rule_slot){pc, rule};
        t->used++;
    }
}

static void free_table(struct rule_table *t)
{
    if (t)
        pages_free(t, sizeof *t + (t->mask + 1) * sizeof t->slots[0]);
}

/* Makes room, unless another thread has just done so. Returns the present table if memory is
 * short. */
static struct rule_table *widen(struct rules *r, struct rule_table *old)
{
    size_t first = r->first_size ? r->first_size : FIRST_SIZE;
    size_t had = old ? old->mask + 1 : 0, size = had ? had * (had < QUICKLY ? 4 : 2) : first;
    struct rule_table *fresh = new_table(size), *expected = old;

    if (!fresh)
        return old;
    if (old)
        copy_rules(fresh, old);
    if (__atomic_compare_exchange_n(&r->table, &expected, fresh, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE)) {
        if (r->alone)
            free_table(old);
        return fresh;
    }
    free_table(fresh);
    return expected;
}

static void remember(struct rules *r, uintptr_t pc, packed_rule rule)
{
    struct rule_table *t = __atomic_load_n(&r->table, __ATOMIC_ACQUIRE);
    size_t at, tries = 0;

    if (!t || t->used * 2 > t->mask)
        t = widen(r, t);
    /* If growing failed, the table must not fill up: rules_find would search for ever. */
    if (!t || t->used * 4 > t->mask * 3)
        return;
    for (at = rules_slot(t, pc); tries <= t->mask; at = (at + 1) & t->mask, tries++) {
        uintptr_t there = __atomic_load_n(&t->slots[at].pc, __ATOMIC_RELAXED);

        if (there == pc) {
            /* The slot's rule was dropped by rules_forget. */
            __atomic_store_n(&t->slots[at].rule, rule, __ATOMIC_RELEASE);
            return;
        }
        if (!there && __atomic_compare_exchange_n(&t->slots[at].pc, &there, pc, false,
                                                  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
            __atomic_store_n(&t->slots[at].rule, rule, __ATOMIC_RELEASE);
            __atomic_fetch_add(&t->used, 1, __ATOMIC_RELAXED);
            return;
        }
        if (there == pc)
            return;
    }
}

packed_rule rules_compile(struct rules *r, uintptr_t pc)
{
    packed_rule rule = rule_pack(r->compile(r->arg, pc));

    if (pc)
        remember(r, pc, rule);
    return rule;
}

void rules_forget(struct rules *r)
{
    struct rule_table *t = __atomic_load_n(&r->table, __ATOMIC_ACQUIRE);

    for (size_t i = 0; t && i <= t->mask; i++)
        __atomic_store_n(&t->slots[i].rule, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void rules_release(struct rules *r)
{
    free_table(r->table);
    r->table = NULL;
}
