/*
 * step.h: one step of a walk, from a frame to its caller.
 *
 * Inline, as the two walks (walk.c over any memory, local.c with its memory of
 * the last stack) spend their time here. Internal to unwind/.
 */
#ifndef FLAME_UNWIND_STEP_H
#define FLAME_UNWIND_STEP_H

#include "unwind/walk.h"

/* How a frame was come by. */
enum frame_kind {
    FRAME_CALL,    /* r.pc is a return address */
    FRAME_EXACT,   /* r.pc is the instruction itself: a signal interrupted it */
    FRAME_GUESSED, /* reached by a frame pointer that merely looked like one */
};

/* A frame of the walk: registers on return to it. Words only: a byte written and
 * read again as part of a larger copy would stall the walk. */
struct frame_state {
    struct walk_regs r;
    uintptr_t kind; /* enum frame_kind */
};

enum step {
    STEP_OK,    /* *f is the caller now */
    STEP_STACK, /* the same, but through a signal frame: r.sp may be on another stack */
    STEP_END,   /* *f was the outermost frame */
    STEP_BOGUS, /* *f was no frame at all: leave it out and end */
    STEP_LOST,  /* only the fallback can go on */
};

/* Where the words that decided a step lie: it comes out the same as long as they
 * and the frame do. */
struct step_words {
    uintptr_t ra_at;   /* address of the return address; 0: not that kind of step. Of the
                          outermost frame: of a word that is 0 as long as it is that */
    uintptr_t bp_at;   /* address of the saved bp; 0: bp was not saved */
    uintptr_t uses_bp; /* whether the frame's own bp decided anything */
};

/* Stands for the word where the outermost frame is one by its code alone. */
static const uintptr_t step_no_word = 0;

FLAME_INLINE bool read_word(const struct walk_window *w, uintptr_t at, uintptr_t *out)
{
    if (unlikely(at < w->lo || at >= w->hi || w->hi - at < sizeof *out))
        return false;
    memcpy(out, w->bytes + (at - w->lo), sizeof *out);
    return true;
}

/* The registers a signal interrupted, from the ucontext the kernel left at sp. */
static inline enum step step_out_of_signal(const struct walk_window *w, struct frame_state *f)
{
    struct walk_regs out;

    if (!read_word(w, f->r.sp + ARCH_UC_PC, &out.pc) ||
        !read_word(w, f->r.sp + ARCH_UC_SP, &out.sp) ||
        !read_word(w, f->r.sp + ARCH_UC_BP, &out.bp))
        return STEP_LOST;
    *f = (struct frame_state){.r = out, .kind = FRAME_EXACT};
    return STEP_STACK;
}

/* Code without unwind information (a JIT's): a frame pointer that looks like one. */
static inline enum step step_by_guess(const struct walk_window *w, struct frame_state *f)
{
    uintptr_t bp, pc;

    if (f->r.bp < f->r.sp || f->r.bp & 7 || f->r.bp >= w->hi)
        return STEP_END;
    if (w->there && f->r.bp >= w->sure && !w->there(f->r.bp))
        return STEP_END;
    if (!read_word(w, f->r.bp, &bp) || !read_word(w, f->r.bp + 8, &pc))
        return STEP_END;
    if (bp <= f->r.bp || bp >= w->hi)
        bp = 0; /* the outermost such frame; one more return address is good */
    *f = (struct frame_state){.r = {pc, f->r.bp + 16, bp}, .kind = FRAME_GUESSED};
    return pc ? STEP_OK : STEP_END;
}

FLAME_INLINE enum step step_out(struct rules *rules, const struct walk_window *w,
                                struct frame_state *f, struct step_words *words)
{
    packed_rule rule = rules_find(rules, f->r.pc - (f->kind != FRAME_EXACT));
    enum rule_kind kind = rule_kind_of(rule);
    uintptr_t cfa, bp = f->r.bp, pc;

    *words = (struct step_words){.uses_bp = 1};
    if (likely(kind <= RULE_CFA_BP)) {
        cfa = (kind == RULE_CFA_SP ? f->r.sp : bp) + (uintptr_t)rule_cfa_offset(rule);
    } else if (kind == RULE_CFA_MEM) {
        if (!read_word(w, bp + (uintptr_t)rule_cfa_offset(rule), &cfa))
            return STEP_LOST;
    } else {
        switch (kind) {
        case RULE_SIGNAL:
            return step_out_of_signal(w, f);
        case RULE_NONE:
            return step_by_guess(w, f);
        case RULE_BOGUS:
            /* A guess that led to no code was no frame. */
            return f->kind == FRAME_GUESSED ? STEP_BOGUS : STEP_END;
        case RULE_END:
            *words = (struct step_words){.ra_at = (uintptr_t)&step_no_word};
            return STEP_END;
        default:
            return STEP_LOST;
        }
    }
    /* The stack grows down: a caller's frame that is not above is a lie. */
    if (unlikely(cfa <= f->r.sp || !read_word(w, cfa - 8, &pc)))
        return STEP_LOST;
    if (rule_bp_saved(rule)) {
        uintptr_t at = (rule_bp_at_bp(rule) ? bp : cfa) + (uintptr_t)rule_bp_offset(rule);

        if (unlikely(!read_word(w, at, &bp)))
            return STEP_LOST;
        words->bp_at = at;
    }
    if (likely(kind <= RULE_CFA_BP)) {
        words->ra_at = cfa - 8;
        words->uses_bp = kind != RULE_CFA_SP || (rule_bp_saved(rule) && rule_bp_at_bp(rule));
    }
    *f = (struct frame_state){.r = {pc, cfa, bp}};
    return pc ? STEP_OK : STEP_END;
}

#endif
