/*
 * Problem: how much of a stack must be copied is known only when it has been walked.
 *
 * Algorithm: steps are taken over what is there. One that fails leaves the frame as it
 * was; if a word beyond the copy's end was wanted, and one that a sound frame may well
 * want, more is copied and the step taken again.
 *
 * Rejected: copying the whole stack (a thread may have megabytes in use), and asking the
 * process for each word (a system call a word).
 */
#include "unwind/remote_walk.h"

#include "unwind/step.h"

/* A frame can be this large: what lies further away is not read for. The usual limit of
 * a whole stack. */
#define FRAME_MAX ((uintptr_t)8 << 20)

static bool beyond(const struct walk_window *w, uintptr_t at)
{
    return (at >= w->hi || w->hi - at < sizeof at) && (at < w->hi || at - w->hi < FRAME_MAX);
}

/* Which word behind the window's end the step out of *f failed to read; 0: none. */
static uintptr_t wanted(struct rules *rules, const struct walk_window *w,
                        const struct frame_state *f)
{
    packed_rule rule = rules_find(rules, f->r.pc - (f->kind != FRAME_EXACT));
    uintptr_t at, cfa;

    switch (rule_kind_of(rule)) {
    case RULE_CFA_SP:
    case RULE_CFA_BP:
        cfa = rule_kind_of(rule) == RULE_CFA_SP ? f->r.sp : f->r.bp;
        cfa += (uintptr_t)rule_cfa_offset(rule);
        break;
    case RULE_CFA_MEM:
        at = f->r.bp + (uintptr_t)rule_cfa_offset(rule);
        if (!read_word(w, at, &cfa))
            return beyond(w, at) ? at : 0;
        break;
    case RULE_SIGNAL:
        at = f->r.sp + ARCH_UC_PC;
        return beyond(w, at) ? at : 0;
    case RULE_NONE:
        at = f->r.bp + 8;
        return !(f->r.bp & 7) && f->r.bp >= f->r.sp && beyond(w, at) ? at : 0;
    default:
        return 0;
    }
    if (cfa <= f->r.sp)
        return 0;
    if (beyond(w, cfa - 8))
        return cfa - 8;
    at = (rule_bp_at_bp(rule) ? f->r.bp : cfa) + (uintptr_t)rule_bp_offset(rule);
    return rule_bp_saved(rule) && beyond(w, at) ? at : 0;
}

/*
 * A guess takes a saved frame pointer that leads out of the window for the last one. Is
 * there more of this stack up there? Then the guess is to be made again.
 */
static bool guess_again(const struct remote_memory *mem, const struct frame_state *before,
                        struct walk_window *w)
{
    struct walk_window wider;
    uintptr_t bp;

    if (!read_word(w, before->r.bp, &bp) || bp <= before->r.bp || bp & 7 || !beyond(w, bp + 8) ||
        !mem->window(mem->arg, bp + 8, &wider) || wider.lo != w->lo)
        return false;
    *w = wider;
    return true;
}

int remote_walk(struct rules *rules, struct walk_regs regs, struct remote_memory *mem,
                uintptr_t *pcs, int max, enum walk_end *end)
{
    struct frame_state f = {.r = regs, .kind = FRAME_EXACT};
    struct step_words words;
    struct walk_window w;
    uintptr_t first;
    int n = 0;

    *end = WALK_COMPLETE;
    mem->deepest = 0;
    if (max <= 0 || !mem->window(mem->arg, regs.sp, &w))
        return 0;
    first = w.lo;
    while (n < max) {
        struct frame_state before = f;
        enum step step = step_out(rules, &w, &f, &words);
        uintptr_t more = 0;

        if (step == STEP_BOGUS && n > 0)
            return n;
        pcs[n] = before.r.pc | (before.kind == FRAME_EXACT ? REMOTE_EXACT : 0);
        if (step == STEP_LOST || step == STEP_END)
            more = wanted(rules, &w, &before);
        if (unlikely(step == STEP_OK && f.kind == FRAME_GUESSED && !f.r.bp) &&
            guess_again(mem, &before, &w)) {
            f = before;
            continue;
        }
        if (unlikely(more)) {
            if (mem->window(mem->arg, more, &w)) {
                f = before;
                continue;
            }
            *end = step == STEP_LOST ? WALK_LOST : WALK_COMPLETE;
            return n + 1;
        }
        n++;
        if (likely(w.lo == first && before.r.sp > regs.sp))
            mem->deepest = before.r.sp - regs.sp;
        if (likely(step == STEP_OK))
            continue;
        if (step == STEP_STACK && mem->window(mem->arg, f.r.sp, &w))
            continue;
        if (step == STEP_STACK || step == STEP_LOST)
            *end = WALK_LOST;
        return n;
    }
    return n;
}
