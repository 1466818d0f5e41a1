/*
 * Walks a thread's own stack by rules from copies of the modules' unwind tables.
 *
 * A walk may read the mapping that the stack pointer was in when flame last read the list, or the
 * memory up to the thread's control block, which the C library puts at the stack's upper end. Of
 * any other stack only the rest of the page is certain. The tables are copies in the arena, so they
 * stay readable when another thread unloads the module. A rule may then be wrong, and the walk ends
 * in a wrong frame, but within memory.
 *
 * Code without tables (a JIT's) is walked by frame pointers. Its rule is not cached, because the
 * address may soon belong to a module.
 */
#include "inject/agent/agent.h"

#include "unwind/local.h"
#include "unwind/step.h"

/* Limit of the size of a stack that was mapped after flame's last reading. */
#define STACK_MOST ((uintptr_t)8 << 20)
#define PAGE ((uintptr_t)4096)

static const struct agent_maps *maps_now(void)
{
    return &agent_shared.maps[__atomic_load_n(&agent_shared.maps_now, __ATOMIC_ACQUIRE) & 1];
}

const struct agent_place *agent_place_of(uintptr_t addr)
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

bool agent_has_module(uintptr_t pc)
{
    return module_of(pc) != NULL;
}

/* Readable part of the stack that `sp` lies in, from `sp` on. */
static void find_window(uintptr_t sp, uintptr_t thread, struct walk_window *w)
{
    const struct agent_place *p = agent_place_of(sp);
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
    /* No call returns to the beginning of a function: makecontext stored this address. */
    if (rule.kind == RULE_NONE && cfi_rule_at(&s, pc + 1 + m->shift).kind != RULE_NONE)
        rule.kind = RULE_END;
    return rule;
}

/* The cached rule, or a new one, which is cached if a module has the address. */
static packed_rule rule_for(uintptr_t pc)
{
    const struct agent_place *p;

    if (module_of(pc)) {
        agent_shared.rules.compile = compile;
        return rules_find(&agent_shared.rules, pc);
    }
    p = agent_place_of(pc);
    return rule_pack((struct rule){.kind = p && p->code ? RULE_NONE : RULE_BOGUS});
}

uint32_t agent_walk(struct agent_lane *lane, const uintptr_t *caller, uint32_t *flags)
{
    struct frame_state f = {.r = local_regs(caller)};
    struct step_words words;
    struct walk_window w;
    uintptr_t *sps = agent_sps(lane);
    uint32_t n = 0;

    find_window(f.r.sp, lane->thread, &w);
    *flags = 0;
    while (n < AGENT_DEPTH) {
        struct frame_state before = f;
        packed_rule rule = rule_for(frame_code(&f));
        enum step step = f.kind & FRAME_DOUBTED ? step_by_rule(rule, &w, &f, &words, true)
                                                : step_by_rule(rule, &w, &f, &words, false);

        if (step == STEP_BOGUS)
            return n;
        if (unlikely(sps != NULL))
            sps[n] = before.r.sp;
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
