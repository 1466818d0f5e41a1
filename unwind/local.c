#define _GNU_SOURCE
#include "unwind/local.h"

#include <link.h>

#include "common/procmaps.h"
#include "unwind/fallback.h"
#include "unwind/modules.h"

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
    /* A module without a search table: libunwind may still know its way. */
    if (!s.hdr)
        return (struct rule){.kind = RULE_COMPLEX};
    return cfi_rule_at(&s, pc);
}

void local_forget(uint32_t epoch)
{
    if (__atomic_exchange_n(&rules_epoch, epoch, __ATOMIC_ACQ_REL) != epoch)
        rules_forget(&rules);
    fallback_forget();
}

/* ---- the stack's bounds ---- */

static FLAME_COLD bool learn_range(struct local_stacks *stacks, uintptr_t sp,
                                   struct walk_window *out)
{
    unsigned i = stacks->next++ % ARRAY_LEN(stacks->range);
    struct procmap map;

    if (!procmaps_find(0, sp, &map) || !map.read)
        return false;
    stacks->range[i].lo = map.stack && map.start > STACK_GAP ? map.start - STACK_GAP : map.start;
    stacks->range[i].hi = map.end;
    *out = (struct walk_window){sp, map.end, (const uint8_t *)sp};
    return true;
}

/* The window begins at sp, not at the mapping's start: below sp is nobody's. */
static bool local_window(void *arg, uintptr_t sp, struct walk_window *out)
{
    struct local_stacks *stacks = arg;

    for (size_t i = 0; i < ARRAY_LEN(stacks->range); i++)
        if (sp >= stacks->range[i].lo && sp < stacks->range[i].hi) {
            *out = (struct walk_window){sp, stacks->range[i].hi, (const uint8_t *)sp};
            return true;
        }
    return learn_range(stacks, sp, out);
}

/* ---- the walk ---- */

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

int local_walk(struct local_stacks *stacks, struct walk_regs regs, uintptr_t *pcs, int max,
               bool *fell_back)
{
    enum walk_end end;
    int n = walk_frames(&rules, regs, local_window, stacks, pcs, max, &end), m;

    *fell_back = false;
    if (likely(end == WALK_COMPLETE && n > 0))
        return n;
    *fell_back = true;
    m = drop_inner(pcs, fallback_walk(pcs, max), regs.pc);
    if (m == 0 && max > 0) { /* not even the caller: that much is known */
        pcs[0] = regs.pc;
        m = 1;
    }
    return m;
}

int local_walk_afresh(struct walk_regs regs, uintptr_t *pcs, int max)
{
    return drop_inner(pcs, fallback_walk_afresh(pcs, max), regs.pc);
}
