/*
 * Problem: find the word above a stack pointer at which a function's frame pointer points.
 *
 * Algorithm: every place up to SEARCH_BYTES is tried in turn. The function's rule gives the place
 * of the return address; nearly all places fail there, at the price of a search among the mappings.
 * From each of the few others a walk is made, as from any stack.
 *
 * Rejected: the nearest place from which the walk reaches the thread's start. Remains of earlier
 * calls in the function's own frame lead there as well, by way of the function: the test's victim
 * showed helper() under epoll_wait(), which had returned long before.
 */
#include "unwind/remote/remote_search.h"

#include "unwind/remote/remote_call.h"
#include "unwind/remote/remote_prologue.h"

#define TRIAL_MAX 256 /* limit of frames of a walk from one place; a longer walk is accepted */
/* Limit of frames of all such walks together: a stack that is made to mislead the search costs no
 * more. */
#define FRAMES_MAX 8192

/* The C library calls main, or a thread's function, through a pointer, and makes no other such call
 * there. The outermost frame called that code. */
#define START_POINTERS 1

/* How well a call fits the function that it should have called. */
enum fit { FIT_NOT, FIT_OTHER, FIT_POINTER, FIT_EXACT };

/* Whether the frames out of a place lead to the thread's start. */
enum way { WAY_NONE, WAY_UNSURE, WAY_OUT };

struct search {
    struct rules *rules;
    struct remote_memory *mem;
    const struct frame_state *callee;
    uintptr_t function; /* the callee's start; 0: not known */
    struct remote_prologue prologue;
    int frames; /* number of frames walked from all places */
};

struct place {
    uintptr_t bp; /* the callee's frame pointer */
    struct frame_state caller;
    enum fit fit;
    bool proved; /* the callee's own prologue proves the place */
};

/* ---- calls ---- */

/* 0: not known. */
static uintptr_t start_of(const struct remote_code *code, uintptr_t pc)
{
    uintptr_t start;

    return code->function(code->arg, pc, &start) ? start : 0;
}

/* Whether `target` is the function, or a stub that leads to it. */
static bool leads_to(const struct remote_code *code, uintptr_t target, uintptr_t function)
{
    uint8_t stub[STUB_BYTES];
    uintptr_t slot, word;

    if (target == function)
        return true;
    if (!code->read(code->arg, target, stub, sizeof stub))
        return false;
    slot = remote_stub_slot(stub, target);
    return slot && code->read(code->arg, slot, &word, sizeof word) && word == function;
}

/* Whether the call before `ra` called `function` (0: not known which). */
static enum fit fit_of(const struct remote_code *code, uintptr_t ra, uintptr_t function)
{
    uint8_t before[CALL_BYTES];
    struct remote_calls c;
    uintptr_t word;

    if (!code->read(code->arg, ra - CALL_BYTES, before, sizeof before))
        return FIT_NOT;
    c = remote_calls_before(before, ra);
    if (function && c.direct && leads_to(code, c.target, function))
        return FIT_EXACT;
    if (function && c.slot && code->read(code->arg, c.slot_at, &word, sizeof word) &&
        word == function)
        return FIT_EXACT;
    if (c.any)
        return FIT_POINTER;
    return c.direct || c.slot ? FIT_OTHER : FIT_NOT;
}

/* ---- places ---- */

/* Reads a word of the stack, which may extend the copy. */
static bool stack_word(struct remote_memory *mem, struct walk_window *w, uintptr_t at,
                       uintptr_t *out)
{
    struct walk_window wider;

    if (read_word(w, at, out))
        return true;
    if (at < w->hi || !mem->window(mem->arg, at, &wider) || wider.lo != w->lo)
        return false;
    *w = wider;
    return read_word(w, at, out);
}

/* The caller, if `bp` is the callee's frame pointer. False: it cannot be. */
static bool caller_by(struct remote_memory *mem, struct walk_window *w, packed_rule rule,
                      const struct frame_state *callee, uintptr_t bp, struct frame_state *out)
{
    uintptr_t cfa = bp + (uintptr_t)rule_cfa_offset(rule), copy;

    *out = (struct frame_state){.r = {0, 0, bp}, .kind = FRAME_CALL};
    if (rule_kind_of(rule) == RULE_CFA_MEM && !stack_word(mem, w, cfa, &cfa))
        return false;
    if (cfa <= callee->r.sp || cfa <= bp || cfa - bp > SEARCH_BYTES || cfa & 7 ||
        !stack_word(mem, w, cfa - 8, &out->r.pc) || !out->r.pc)
        return false;
    /* A function that realigns its stack stores its return address there a second time. */
    if (rule_kind_of(rule) == RULE_CFA_MEM &&
        (!stack_word(mem, w, bp + 8, &copy) || copy != out->r.pc))
        return false;
    out->r.sp = cfa;
    return !rule_bp_saved(rule) ||
           stack_word(mem, w, (rule_bp_at_bp(rule) ? bp : cfa) + (uintptr_t)rule_bp_offset(rule),
                      &out->r.bp);
}

/* Compares the place with the callee's prologue. False: it does not fit. */
static bool fits_prologue(const struct search *s, struct walk_window *w, struct place *p)
{
    uintptr_t word;

    if (p->bp - s->callee->r.sp < s->prologue.size)
        return false;
    p->proved = s->prologue.size && p->bp - s->callee->r.sp == s->prologue.size;
    return !s->prologue.canary ||
           (stack_word(s->mem, w, p->bp + (uintptr_t)(intptr_t)s->prologue.canary, &word) &&
            remote_is_canary(word));
}

static uintptr_t code_at(uintptr_t pc)
{
    return (pc & ~REMOTE_EXACT) - !(pc & REMOTE_EXACT);
}

/* Judges the functions of the frames further out, innermost first. */
static enum way judge(const struct search *s, const struct place *p, const uintptr_t *pcs, int n)
{
    const struct remote_code *code = s->mem->code;
    bool doubtful = p->fit == FIT_POINTER && !p->proved;
    uintptr_t callee = 0;
    int pointers = 0, others = 0;

    for (int i = 0; i < n; i++) {
        uintptr_t function = start_of(code, code_at(pcs[i]));
        enum fit fit = FIT_EXACT;

        if (doubtful && function && function == s->function)
            return WAY_NONE; /* an earlier call of the function itself */
        /* The kernel called a signal's handler, so the interrupted code called nothing. */
        if (callee && function && !(pcs[i] & REMOTE_EXACT) &&
            rule_kind_of(rules_find(s->rules, code_at(pcs[i]))) != RULE_SIGNAL)
            fit = fit_of(code, pcs[i], callee);
        if (fit == FIT_NOT)
            return WAY_NONE;
        pointers += fit == FIT_POINTER && i < n - 1;
        others += fit == FIT_OTHER;
        callee = function;
    }
    return doubtful && (others || pointers > START_POINTERS) ? WAY_UNSURE : WAY_OUT;
}

static enum way way_from(struct search *s, const struct place *p)
{
    struct walk_regs from = {.pc = p->caller.r.pc - 1, .sp = p->caller.r.sp, .bp = p->caller.r.bp};
    struct remote_memory mem = *s->mem;
    uintptr_t pcs[TRIAL_MAX];
    enum walk_end end;
    int n;

    mem.code = NULL;
    mem.sps = NULL;
    n = remote_walk(s->rules, from, &mem, pcs, TRIAL_MAX, &end);
    s->frames += n;
    if (n <= 0 || end != WALK_COMPLETE)
        return WAY_NONE;
    if (n < TRIAL_MAX && rule_kind_of(rules_find(s->rules, code_at(pcs[n - 1]))) != RULE_END)
        return WAY_NONE;
    return judge(s, p, pcs, n);
}

/* Finds the callee's beginning and prologue. False: its rule needs no frame pointer. */
static bool begin(struct search *s, packed_rule rule)
{
    const struct remote_code *code = s->mem->code;
    uint8_t bytes[PROLOGUE_BYTES];

    if (rule_kind_of(rule) != RULE_CFA_BP && rule_kind_of(rule) != RULE_CFA_MEM)
        return false;
    s->function = start_of(code, frame_code(s->callee));
    if (s->function && code->read(code->arg, s->function, bytes, sizeof bytes))
        s->prologue = remote_prologue(bytes, sizeof bytes);
    return true;
}

bool remote_search(struct rules *rules, struct remote_memory *mem, struct walk_window *w,
                   const struct frame_state *callee, struct frame_state *caller)
{
    struct search s = {.rules = rules, .mem = mem, .callee = callee};
    packed_rule rule = rules_find(rules, frame_code(callee));
    struct place best = {.fit = FIT_NOT};
    bool unsure = false; /* the next place found may belong to the caller's caller */
    uintptr_t word;

    if (!begin(&s, rule))
        return false;
    for (uintptr_t bp = (callee->r.sp + 7) & ~(uintptr_t)7;
         best.fit != FIT_EXACT && bp - callee->r.sp < SEARCH_BYTES && stack_word(mem, w, bp, &word);
         bp += 8) {
        struct place p = {.bp = bp};
        uintptr_t function;
        enum way way;

        if (!caller_by(mem, w, rule, callee, bp, &p.caller) ||
            !mem->code->function(mem->code->arg, p.caller.r.pc - 1, &function) ||
            !fits_prologue(&s, w, &p))
            continue;
        p.fit = fit_of(mem->code, p.caller.r.pc, s.function);
        if (p.fit < FIT_POINTER || (p.fit == FIT_POINTER && unsure))
            continue;
        way = way_from(&s, &p);
        /* The copy may have been extended, and moved. */
        if (!mem->window(mem->arg, callee->r.sp, w))
            return false;
        unsure = unsure || way == WAY_UNSURE || (way == WAY_NONE && !function);
        if (way == WAY_OUT && p.fit > best.fit)
            best = p;
        if (s.frames > FRAMES_MAX)
            return false;
    }
    *caller = best.caller;
    return best.fit != FIT_NOT;
}
