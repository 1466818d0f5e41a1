#include "unwind/walk.h"

static inline bool read_word(const struct walk_window *w, uintptr_t at, uintptr_t *out)
{
    if (unlikely(at < w->lo || at >= w->hi || w->hi - at < sizeof *out))
        return false;
    memcpy(out, w->bytes + (at - w->lo), sizeof *out);
    return true;
}

/* One step out of a frame with a CFA. False when the stack does not bear it out. */
static inline bool step_out(const struct walk_window *w, packed_rule rule, struct walk_regs *r)
{
    uintptr_t cfa, bp = r->bp, pc;

    switch (rule_kind_of(rule)) {
    case RULE_CFA_SP:
        cfa = r->sp + (uintptr_t)rule_cfa_offset(rule);
        break;
    case RULE_CFA_BP:
        cfa = r->bp + (uintptr_t)rule_cfa_offset(rule);
        break;
    default: /* RULE_CFA_MEM */
        if (!read_word(w, r->bp + (uintptr_t)rule_cfa_offset(rule), &cfa))
            return false;
    }
    /* The stack grows down: a caller's frame that is not above is a lie. */
    if (cfa <= r->sp || !read_word(w, cfa - 8, &pc))
        return false;
    if (rule_bp_saved(rule) &&
        !read_word(w, (rule_bp_at_bp(rule) ? r->bp : cfa) + (uintptr_t)rule_bp_offset(rule), &bp))
        return false;
    *r = (struct walk_regs){pc, cfa, bp};
    return true;
}

/* The registers a signal interrupted, from the ucontext the kernel left at sp. */
static bool step_out_of_signal(const struct walk_window *w, struct walk_regs *r)
{
    struct walk_regs out;

    if (!read_word(w, r->sp + ARCH_UC_PC, &out.pc) || !read_word(w, r->sp + ARCH_UC_SP, &out.sp) ||
        !read_word(w, r->sp + ARCH_UC_BP, &out.bp))
        return false;
    *r = out;
    return true;
}

/* Code without unwind information (a JIT's): a frame pointer that looks like one. */
static bool guess(const struct walk_window *w, struct walk_regs *r)
{
    uintptr_t bp, pc;

    if (r->bp < r->sp || r->bp & 7 || !read_word(w, r->bp, &bp) || !read_word(w, r->bp + 8, &pc))
        return false;
    if (bp <= r->bp || bp >= w->hi)
        bp = 0; /* the outermost such frame; one more return address is good */
    *r = (struct walk_regs){pc, r->bp + 16, bp};
    return true;
}

int walk_frames(struct rules *rules, struct walk_regs r,
                bool (*window)(void *arg, uintptr_t sp, struct walk_window *out), void *arg,
                uintptr_t *pcs, int max, enum walk_end *end)
{
    struct walk_window w;
    bool exact = false, guessed = false;
    int n = 0;

    *end = WALK_COMPLETE;
    if (unlikely(max <= 0 || !window(arg, r.sp, &w)))
        return 0;
    pcs[n++] = r.pc;
    while (n < max) {
        packed_rule rule = rules_find(rules, r.pc - !exact);

        switch (rule_kind_of(rule)) {
        case RULE_CFA_SP:
        case RULE_CFA_BP:
        case RULE_CFA_MEM:
            if (unlikely(!step_out(&w, rule, &r)))
                goto lost;
            exact = guessed = false;
            break;
        case RULE_SIGNAL:
            if (!step_out_of_signal(&w, &r) || !window(arg, r.sp, &w))
                goto lost;
            exact = true;
            break;
        case RULE_NONE:
            if (!guess(&w, &r))
                return n;
            exact = false;
            guessed = true;
            break;
        case RULE_BOGUS:
            /* A guess that led to no code was no frame. */
            return guessed ? n - 1 : n;
        case RULE_END:
            return n;
        default:
            goto lost;
        }
        if (unlikely(r.pc == 0))
            return n;
        pcs[n++] = r.pc;
    }
    return n;
lost:
    *end = WALK_LOST;
    return n;
}
