/*
 * A thread's own stack, by rules of the copied unwind tables.
 *
 * The memory that a walk may read is the mapping that the stack pointer was in when flame last
 * looked, or what lies between it and the thread's control block, which the C library puts at the
 * stack's upper end; of any other stack only the rest of the page is certain. Tables are copies in
 * the arena, so that a module which another thread unloads meanwhile takes nothing away that is
 * read here: a rule may then be the wrong one, and the walk ends in a wrong frame, within memory.
 *
 * Code without tables (a JIT's) is walked by frame pointers, and its rule is not remembered, as
 * the same address may belong to a module soon.
 */
#include "inject/agent/agent.h"

#include "unwind/local.h"
#include "unwind/step.h"

/* A stack that the last look has not seen yet is no larger than that. */
#define STACK_MOST ((uintptr_t)8 << 20)
#define PAGE ((uintptr_t)4096)

static const struct agent_maps *maps_now(void)
{
    return &agent_shared.maps[__atomic_load_n(&agent_shared.maps_now, __ATOMIC_ACQUIRE) & 1];
}

static const struct agent_place *place_of(uintptr_t addr)
{
    const struct agent_maps *m = maps_now();
    size_t lo = 0, hi = m->nplaces < AGENT_PLACES ? m->nplaces : 0;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->places[mid].end <= addr)
            lo = mid + 1;
        else
            hi = mid;
    }
    return m->nplaces < AGENT_PLACES && lo < m->nplaces && m->places[lo].start <= addr
               ? &m->places[lo]
               : NULL;
}

static const struct agent_module *module_of(uintptr_t pc)
{
    const struct agent_maps *m = maps_now();
    size_t lo = 0, hi = m->nmodules < AGENT_MODULES ? m->nmodules : 0;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (m->modules[mid].end <= pc)
            lo = mid + 1;
        else
            hi = mid;
    }
    return m->nmodules < AGENT_MODULES && lo < m->nmodules && m->modules[lo].start <= pc
               ? &m->modules[lo]
               : NULL;
}

/* The stack that `sp` is on, from there on. */
static void find_window(uintptr_t sp, uintptr_t thread, struct walk_window *w)
{
    const struct agent_place *p = place_of(sp);
    uintptr_t hi = (sp | (PAGE - 1)) + 1;

    if (p && p->stack)
        hi = p->end;
    else if (sp < thread && thread - sp < STACK_MOST)
        hi = thread;
    *w = (struct walk_window){.lo = sp, .hi = hi, .bytes = (const uint8_t *)sp};
}

static struct rule compile(void *arg FLAME_UNUSED, uintptr_t pc)
{
    const struct agent_module *m = module_of(pc);
    struct cfi_section s;
    struct rule rule;

    if (!m || !m->hdr_size)
        return (struct rule){.kind = RULE_NONE};
    s = (struct cfi_section){.hdr = (const uint8_t *)m->hdr,
                             .hdr_size = m->hdr_size,
                             .lo = m->tables,
                             .hi = m->tables_end};
    rule = cfi_rule_at(&s, pc + m->shift);
    /* No call ends where a function begins: makecontext put this address there. */
    if (rule.kind == RULE_NONE && cfi_rule_at(&s, pc + 1 + m->shift).kind != RULE_NONE)
        rule.kind = RULE_END;
    return rule;
}

/* The rule that is remembered, or one that is made and remembered if a module has the address. */
static packed_rule rule_for(uintptr_t pc)
{
    const struct agent_place *p;

    if (module_of(pc)) {
        agent_shared.rules.compile = compile;
        return rules_find(&agent_shared.rules, pc);
    }
    p = place_of(pc);
    return rule_pack((struct rule){.kind = p && p->code ? RULE_NONE : RULE_BOGUS});
}

uint32_t agent_walk(struct agent_lane *lane, const uintptr_t *caller, uint32_t *flags)
{
    struct frame_state f = {.r = local_regs(caller)};
    struct step_words words;
    struct walk_window w;
    uint32_t n = 0;

    find_window(f.r.sp, lane->thread, &w);
    *flags = 0;
    while (n < AGENT_DEPTH) {
        struct frame_state before = f;
        enum step step = step_by_rule(rule_for(frame_code(&f)), &w, &f, &words, false);

        if (step == STEP_BOGUS)
            return n;
        lane->pcs[n++] = before.r.pc;
        if (step == STEP_END)
            return n;
        if (step == STEP_STACK)
            find_window(f.r.sp, lane->thread, &w);
        if (step == STEP_LOST) {
            *flags = AGENT_INCOMPLETE;
            return n;
        }
    }
    *flags = AGENT_CUT;
    return n;
}
