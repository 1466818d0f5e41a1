/*
 * step.h: one step of a walk, from a frame to its caller.
 *
 * Inline, because both walks (remote_walk.c over copies of memory, local.c with its stored last
 * stack) spend their time here. Internal to unwind/ and preload/kept/stopped_walk.c.
 */
#ifndef FLAME_UNWIND_STEP_H
#define FLAME_UNWIND_STEP_H

#include "unwind/walk.h"
#if ARCH_LINK
#include "unwind/step_aarch64.h"
#else
#include "unwind/step_x86_64.h"
#endif

/* How the walk reached a frame: one of the first three, perhaps combined with the last. */
enum frame_kind {
    FRAME_CALL = 0,    /* r.pc is a return address */
    FRAME_EXACT = 1,   /* r.pc is the instruction itself: a signal interrupted it */
    FRAME_GUESSED = 2, /* reached by a word that only looked like a frame pointer */
    FRAME_DOUBTED = 4, /* a guess was made further in, so r may be wrong */
};

/* A frame of the walk: its registers on return to it. Words only: if a byte were written and read
 * again as part of a larger copy, the walk would stall. */
struct frame_state {
    struct walk_regs r;
    uintptr_t kind; /* of enum frame_kind */
};

enum step {
    STEP_OK,    /* *f now is the caller */
    STEP_STACK, /* like STEP_OK, but through a signal frame: r.sp may be on another stack */
    STEP_END,   /* *f was the outermost frame */
    STEP_BOGUS, /* *f was no frame at all: the walk drops it and ends */
    STEP_LOST,  /* only the fallback can continue */
};

/* Addresses of the words that decided a step. The step has the same result as long as these words
 * and the frame do not change. */
struct step_words {
    uintptr_t
        ra_at; /* address of the return address; 0: the step did not read one. For the outermost
                  frame: address of a word that is 0 as long as the frame is the outermost */
    uintptr_t bp_at;   /* address of the saved bp; 0: bp was not saved */
    uintptr_t uses_bp; /* whether the frame's own bp influenced the step */
};

/* 0 marks the outermost frame. No program has code in the kernel's half of the address space, and
 * those who take a stack use the top bit (STACK_NAME, REMOTE_EXACT). */
FLAME_INLINE enum step step_to(uintptr_t pc)
{
    return likely((intptr_t)pc > 0) ? STEP_OK : STEP_END;
}

/* Takes the place of the word if the outermost frame is recognised by its code alone. */
static const uintptr_t step_no_word = 0;

FLAME_INLINE bool read_word(const struct walk_window *w, uintptr_t at, uintptr_t *out)
{
    if (unlikely(at < w->lo || at >= w->hi || w->hi - at < sizeof *out))
        return false;
    memcpy(out, w->bytes + (at - w->lo), sizeof *out);
    return true;
}

/*
 * A guess may lead to registers that no frame ever had. The rules that follow read where these
 * registers point: inside the window, but perhaps in memory that was unmapped since the window was
 * learnt. So a doubted frame asks whether the memory is mapped before it reads.
 */
static inline bool is_sure(const struct walk_window *w, uintptr_t at)
{
    return !w->there || at < w->sure;
}

/* Whether `size` bytes at `at` are in the window and not mapped any more. */
static inline bool is_gone(const struct walk_window *w, uintptr_t at, size_t size)
{
    return !is_sure(w, at) && at < w->hi && !w->there(at, size);
}

/* The step out of a doubted frame would read unmapped memory: the guess was wrong, or this is the
 * last frame that can be known. */
static inline enum step step_nowhere(const struct frame_state *f)
{
    return f->kind & FRAME_GUESSED ? STEP_BOGUS : STEP_END;
}

/* Restores the registers that a signal interrupted, from the ucontext that the kernel stored at
 * sp. */
static inline enum step step_out_of_signal(const struct walk_window *w, struct frame_state *f)
{
    uintptr_t doubt = f->kind & FRAME_DOUBTED;
    struct walk_regs out;

    if (doubt && is_gone(w, f->r.sp + ARCH_UC_BP, ARCH_UC_PC + sizeof out.pc - ARCH_UC_BP))
        return step_nowhere(f);
    if (!read_word(w, f->r.sp + ARCH_UC_PC, &out.pc) ||
        !read_word(w, f->r.sp + ARCH_UC_SP, &out.sp) ||
        !read_word(w, f->r.sp + ARCH_UC_BP, &out.bp))
        return STEP_LOST;
#if ARCH_LINK
    if (!read_word(w, f->r.sp + ARCH_UC_LR, &out.lr))
        return STEP_LOST;
#endif
    *f = (struct frame_state){.r = out, .kind = FRAME_EXACT | doubt};
    return step_to(out.pc) == STEP_OK ? STEP_STACK : STEP_END;
}

/* Step through code without unwind information (a JIT's), by a word that looks like a frame
 * pointer. */
static inline enum step step_by_guess(const struct walk_window *w, struct frame_state *f)
{
    uintptr_t bp, pc;

    if (f->r.bp < f->r.sp || f->r.bp & 7 || f->r.bp >= w->hi)
        return STEP_END;
    if (is_gone(w, f->r.bp, 2 * sizeof bp))
        return STEP_END;
    if (!read_word(w, f->r.bp, &bp) || !read_word(w, f->r.bp + 8, &pc))
        return STEP_END;
    if (bp <= f->r.bp || bp >= w->hi)
        bp = 0; /* this is the outermost such frame; one more return address is valid */
    pc = arch_strip(pc);
    *f = (struct frame_state){.r = {.pc = pc, .sp = f->r.bp + 16, .bp = bp},
                              .kind = FRAME_GUESSED | FRAME_DOUBTED};
    return step_to(pc);
}

/* Address at which a frame's rule is looked up: its instruction, or the call before its return
 * address. */
static inline uintptr_t frame_code(const struct frame_state *f)
{
    return f->r.pc - !(f->kind & FRAME_EXACT);
}

/* Out of a frame of RULE_CFA_FAR. */
static inline enum step step_far(packed_rule rule, const struct walk_window *w,
                                 struct frame_state *f, struct step_words *words)
{
    uintptr_t at = f->r.bp, cfa = at + (uintptr_t)rule_cfa_offset(rule), bp, pc;

    if (f->kind & FRAME_DOUBTED && is_gone(w, at, 2 * sizeof pc))
        return step_nowhere(f);
    if (cfa <= f->r.sp || !read_word(w, at, &bp) || !read_word(w, at + 8, &pc))
        return STEP_LOST;
    *words = (struct step_words){.ra_at = at + 8, .bp_at = at, .uses_bp = 1};
    *f =
        (struct frame_state){.r = {.pc = pc, .sp = cfa, .bp = bp}, .kind = f->kind & FRAME_DOUBTED};
    return step_to(pc);
}

/* Step out of a frame of RULE_CFA_LR. Only an interrupted frame has its return address in a
 * register. The step read nothing, so no word can confirm it later. */
static inline enum step step_by_link(packed_rule rule FLAME_UNUSED, struct frame_state *f)
{
#if ARCH_LINK
    uintptr_t cfa = f->r.sp + (uintptr_t)rule_cfa_offset(rule), pc = arch_strip(f->r.lr);

    if (f->kind & FRAME_EXACT && cfa >= f->r.sp) {
        *f = (struct frame_state){.r = {.pc = pc, .sp = cfa, .bp = f->r.bp},
                                  .kind = f->kind & FRAME_DOUBTED};
        return step_to(pc);
    }
#endif
    return f->kind & FRAME_GUESSED ? STEP_BOGUS : STEP_LOST;
}

/* A guess knows the address of the next frame's frame record. On aarch64 it does not know that
 * frame's stack pointer, because the record is at the lower end of a frame. */
static inline bool step_has_record(packed_rule rule, const struct frame_state *f)
{
    return ARCH_LINK && f->kind & FRAME_GUESSED && rule_kind_of(rule) == RULE_CFA_SP &&
           rule_bp_saved(rule);
}

/* `doubt` is a constant when this is inlined, so walks without a guess do not test it. */
FLAME_INLINE enum step step_by_rule(packed_rule rule, const struct walk_window *w,
                                    struct frame_state *f, struct step_words *words, bool doubt)
{
    enum rule_kind kind = rule_kind_of(rule);
    uintptr_t cfa, bp = f->r.bp, pc;

    *words = (struct step_words){.uses_bp = 1};
    if (likely(kind <= RULE_CFA_BP)) {
        cfa = (kind == RULE_CFA_SP ? f->r.sp : bp) + (uintptr_t)rule_cfa_offset(rule);
        if (doubt && step_has_record(rule, f))
            cfa = bp - (uintptr_t)rule_bp_offset(rule);
    } else if (kind == RULE_CFA_MEM) {
        uintptr_t at = bp + (uintptr_t)rule_cfa_offset(rule);

        if (doubt && is_gone(w, at, sizeof cfa))
            return step_nowhere(f);
        if (!read_word(w, at, &cfa))
            return STEP_LOST;
    } else {
        switch (kind) {
        case RULE_SIGNAL:
            return step_out_of_signal(w, f);
        case RULE_NONE:
            return step_by_guess(w, f);
        case RULE_BOGUS:
            /* A guess that led to an address without code was no frame. */
            return f->kind & FRAME_GUESSED ? STEP_BOGUS : STEP_END;
        case RULE_CFA_FAR:
            return step_far(rule, w, f, words);
        case RULE_CFA_LR:
            return step_by_link(rule, f);
        case RULE_END:
            *words = (struct step_words){.ra_at = (uintptr_t)&step_no_word};
            return STEP_END;
        default:
            return STEP_LOST;
        }
    }
    if (doubt && cfa > f->r.sp && is_gone(w, step_ra_at(rule, cfa), sizeof pc))
        return step_nowhere(f);
    /* The stack grows down: a caller's frame that is not above this one is invalid. */
    if (unlikely(cfa <= f->r.sp || !read_word(w, step_ra_at(rule, cfa), &pc)))
        return STEP_LOST;
    pc = arch_strip(pc);
    if (rule_bp_saved(rule)) {
        uintptr_t at = (rule_bp_at_bp(rule) ? bp : cfa) + (uintptr_t)rule_bp_offset(rule);

        if (doubt && is_gone(w, at, sizeof bp))
            return step_nowhere(f);
        if (unlikely(!read_word(w, at, &bp)))
            return STEP_LOST;
        words->bp_at = at;
    }
    if (likely(kind <= RULE_CFA_BP)) {
        words->ra_at = step_ra_at(rule, cfa);
        words->uses_bp = kind != RULE_CFA_SP || (rule_bp_saved(rule) && rule_bp_at_bp(rule)) ||
                         (doubt && step_has_record(rule, f));
    }
    *f = (struct frame_state){.r = {.pc = pc, .sp = cfa, .bp = bp},
                              .kind = doubt ? FRAME_DOUBTED : FRAME_CALL};
    return step_to(pc);
}

/* Step out of a frame that a plain call did not make. */
static FLAME_NOINLINE enum step step_out_of_odd(struct rules *rules, const struct walk_window *w,
                                                struct frame_state *f, struct step_words *words)
{
    packed_rule rule = rules_find(rules, frame_code(f));
    enum step step;

    if (!(f->kind & FRAME_DOUBTED))
        return step_by_rule(rule, w, f, words, false);
    step = step_by_rule(rule, w, f, words, true);
    /* Words that may be unmapped next time cannot confirm the step: a later walk that met the same
     * frame would read them without asking. */
    if (words->ra_at != (uintptr_t)&step_no_word &&
        (!is_sure(w, words->ra_at) || !is_sure(w, words->bp_at)))
        *words = (struct step_words){.uses_bp = 1};
    return step;
}

FLAME_INLINE enum step step_out(struct rules *rules, const struct walk_window *w,
                                struct frame_state *f, struct step_words *words)
{
    if (unlikely(f->kind != FRAME_CALL)) {
        struct walk_window window = *w; /* copies, so that *f may be in registers */
        struct frame_state frame = *f;
        enum step step = step_out_of_odd(rules, &window, &frame, words);

        *f = frame;
        return step;
    }
    return step_by_rule(rules_find(rules, frame_code(f)), w, f, words, false);
}

#endif
