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
#include "unwind/remote/remote_walk.h"

#include "unwind/remote/remote_search.h"

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
    packed_rule rule = rules_find(rules, frame_code(f));
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
    case RULE_CFA_FAR:
        at = f->r.bp + 8;
        return f->r.bp + (uintptr_t)rule_cfa_offset(rule) > f->r.sp && beyond(w, at) ? at : 0;
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
    at = step_ra_at(rule, cfa);
    if (beyond(w, at))
        return at;
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

/*
 * How the walk has ended in a frame whose step came to nothing. In code that no table speaks of,
 * 0 in the frame pointer means the outermost frame if frame pointers led there. If rules did,
 * nobody may use that register at all, and it is 0 since the thread began.
 */
static enum walk_end ended(struct rules *rules, const struct frame_state *before,
                           const struct frame_state *after, bool cut)
{
    if (!after->r.pc || rule_kind_of(rules_find(rules, frame_code(before))) != RULE_NONE)
        return WALK_COMPLETE;
    if (before->r.bp || cut)
        return WALK_BROKEN;
    return before->kind & FRAME_GUESSED ? WALK_COMPLETE : WALK_BARE;
}

/* A guess led to *f; did it take the saved frame pointer for none because it was nonsense? */
static bool guess_cut(const struct walk_window *w, const struct frame_state *before,
                      const struct frame_state *f)
{
    uintptr_t bp;

    return f->kind & FRAME_GUESSED && !f->r.bp && read_word(w, before->r.bp, &bp) && bp;
}

static bool wants_bp(packed_rule rule)
{
    return rule_kind_of(rule) == RULE_CFA_BP || rule_kind_of(rule) == RULE_CFA_MEM ||
           rule_kind_of(rule) == RULE_CFA_FAR || rule_kind_of(rule) == RULE_NONE;
}

int remote_walk(struct rules *rules, struct walk_regs regs, struct remote_memory *mem,
                uintptr_t *pcs, int max, enum walk_end *end)
{
    struct frame_state f = {.r = regs, .kind = FRAME_EXACT};
    bool blind = mem->code != NULL; /* f.r.bp is not known */
    bool cut = false;               /* f.r.bp is 0 for want of a better one */
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
        uintptr_t more = 0;
        enum step step;

        if (unlikely(blind && wants_bp(rules_find(rules, frame_code(&f))))) {
            pcs[n++] = f.r.pc | (f.kind & FRAME_EXACT ? REMOTE_EXACT : 0);
            if (!remote_search(rules, mem, &w, &before, &f)) {
                bool bare = rule_kind_of(rules_find(rules, frame_code(&before))) == RULE_NONE;

                *end = bare ? WALK_BARE : WALK_BROKEN;
                return n;
            }
            blind = false;
            continue;
        }
        step = step_out(rules, &w, &f, &words);
        if (step == STEP_BOGUS && n > 0) {
            /* Where a saved 0 said that it was the last, what lies behind that is no matter. */
            *end = before.r.bp || cut ? WALK_BROKEN : WALK_COMPLETE;
            return n;
        }
        pcs[n] = before.r.pc | (before.kind & FRAME_EXACT ? REMOTE_EXACT : 0);
        if (step == STEP_LOST || step == STEP_END)
            more = wanted(rules, &w, &before);
        if (unlikely(step == STEP_OK && f.kind & FRAME_GUESSED && !f.r.bp) &&
            guess_again(mem, &before, &w)) {
            f = before;
            continue;
        }
        if (unlikely(more)) {
            if (mem->window(mem->arg, more, &w)) {
                f = before;
                continue;
            }
            *end = step == STEP_LOST ? WALK_LOST : ended(rules, &before, &f, cut);
            return n + 1;
        }
        n++;
        blind = blind && !words.bp_at && step != STEP_STACK;
        if (likely(w.lo == first && before.r.sp > regs.sp))
            mem->deepest = before.r.sp - regs.sp;
        if (likely(step == STEP_OK)) {
            cut = guess_cut(&w, &before, &f);
            continue;
        }
        if (step == STEP_END)
            *end = ended(rules, &before, &f, cut);
        if (step == STEP_STACK && mem->window(mem->arg, f.r.sp, &w))
            continue;
        if (step == STEP_STACK || step == STEP_LOST)
            *end = WALK_LOST;
        return n;
    }
    return n;
}
