/*
 * Problem: only a walk shows how much of a stack must be copied.
 *
 * Algorithm: steps use the present copy. A step that fails does not change the frame. If it needed
 * a word beyond the copy's end, at a distance that is plausible for a frame, more is copied and the
 * step is repeated.
 *
 * Rejected: copying the whole stack (a thread may have megabytes in use), and asking the
 * process for each word (a system call a word).
 */
#include "unwind/remote/remote_walk.h"

#include "unwind/remote/remote_search.h"

/* Limit of a frame's size: no memory further away is copied. It is the usual limit of a whole
 * stack. */
#define FRAME_MAX ((uintptr_t)8 << 20)

static bool beyond(const struct walk_window *w, uintptr_t at)
{
    return (at >= w->hi || w->hi - at < sizeof at) && (at < w->hi || at - w->hi < FRAME_MAX);
}

/* Address of the word beyond the window's end that the step out of *f failed to read; 0: there is
 * none. */
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
 * Whether to repeat a guess. A guess treats a saved frame pointer that leads out of the window as
 * the last one. If more of this stack lies up there, the guess must be made again.
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
 * How the walk ended, in a frame out of which no step led. In code without tables, a frame pointer
 * of 0 marks the outermost frame if frame pointers led there. If rules led there, the program may
 * not use that register at all, and it has been 0 since the thread began.
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

/* Whether the guess that led to *f dropped the saved frame pointer because its value was
 * nonsense. */
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

static inline void put(const struct remote_memory *mem, uintptr_t *pcs, int n,
                       const struct frame_state *f)
{
    pcs[n] = f->r.pc | (f->kind & FRAME_EXACT ? REMOTE_EXACT : 0);
    if (mem->sps)
        mem->sps[n] = f->r.sp;
}

int remote_walk(struct rules *rules, struct walk_regs regs, struct remote_memory *mem,
                uintptr_t *pcs, int max, enum walk_end *end)
{
    struct frame_state f = {.r = regs, .kind = FRAME_EXACT};
    bool blind = mem->code != NULL; /* f.r.bp is not known */
    bool cut = false;               /* f.r.bp is 0 because no better value is known */
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
            put(mem, pcs, n++, &f);
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
            /* If a saved 0 marked the last frame, the memory after it does not matter. */
            *end = before.r.bp || cut ? WALK_BROKEN : WALK_COMPLETE;
            return n;
        }
        put(mem, pcs, n, &before);
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
