/*
 * Problem: each native frame of the interpreter's loop runs functions of Python, which must be
 * found for each allocation. There may be a hundred, and each is four pointers away.
 *
 * Frames and marks: a native frame of the loop runs one frame of Python or several, as a call of
 * one function by another does not nest in C. In 3.11 each native frame has a _PyCFrame on the C
 * stack, which leads to the innermost of its frames; `is_entry` marks the outermost. From 3.12 on
 * the mark is a frame that lies on the C stack itself and belongs to no function. So an address on
 * the C stack identifies the native frame, whatever its code is called and however the compiler has
 * cut it up.
 *
 * Algorithm: the frames of the last event are kept, outermost first, with all that their names
 * depend on. The chain is read from its innermost frame outwards. At a frame that is kept, the
 * reading becomes a comparison: the addresses to load from are those that are kept, and a load
 * counts only after the word that should lead there was found equal. So the processor does not wait
 * for one load before it begins the next, and nothing is loaded from an address that is not the
 * chain's. From the first difference on, frames are read again, until another one is a kept one.
 *
 * Rejected: finding these native frames by the symbol _PyEval_EvalFrameDefault, because compilers
 * move parts of it elsewhere (.cold), and stripped programs do not have the symbol; trusting that
 * what is outside of an unchanged frame is unchanged (a frame's memory is reused at once, also by
 * the same function called from another).
 */
#include "unwind/python/kept_chain.h"

#include "common/hash.h"
#include "common/pages.h"
#include "unwind/python/pyhost.h"

#define FIRST_LINKS 64u
#define FRESH_MOST 4096u /* more room for fresh links is returned after use */

/* Place in the chain: the next frame outwards, and the _PyCFrame of its native frame, or 0. */
struct cursor {
    uintptr_t frame, cframe;
};

/* ---- the interpreter's memory ---- */

/* Where the calling thread's chain begins; 0: it runs no Python. It is the address of its innermost
 * frame, or of its innermost _PyCFrame if entries are functions (pylayout.h). */
static uintptr_t beginning(const struct python *py, struct pypages *pages)
{
    const struct pylayout *l = py->layout;
    uint32_t changes = pyhost_changes();
    uintptr_t state, thread, chain, inner;

    if (unlikely(pages->changes != changes))
        *pages = (struct pypages){.changes = changes};
    state = pyhost_state(py, pages);
    if (!state || !pypages_word(pages, state + l->state_thread, &thread) ||
        thread != pyhost_thread() || !pypages_word(pages, state + l->state_frames, &chain) ||
        !chain)
        return 0;
    if (!l->has_cframes)
        return chain;
    /* The _PyCFrame of a thread that runs no function is the one in its state. */
    if (!pypages_word(pages, chain + l->cframe_current, &inner) || !inner)
        return 0;
    return l->entry_is_a_frame ? chain : inner;
}

/* ---- memory ---- */

static FLAME_COLD bool widen(struct pylink **list, uint32_t *cap)
{
    uint32_t wide = *cap ? *cap * 2 : FIRST_LINKS;
    struct pylink *more;

    if (wide > KEPT_CHAIN_MOST)
        return false;
    more = *list ? pages_resize(*list, *cap * sizeof *more, wide * sizeof *more)
                 : pages_alloc(wide * sizeof *more);
    if (!more)
        return false;
    *list = more;
    *cap = wide;
    return true;
}

/* ---- reading ---- */

/* Moves to the innermost frame of the native frame whose _PyCFrame is c->cframe. False: there is
 * none, and the chain ends. */
static bool enter_cframe(const struct pylayout *l, struct pypages *pages, struct cursor *c)
{
    uintptr_t outer;

    /* The outermost _PyCFrame is not on the stack and runs no function. */
    return c->cframe && pypages_word(pages, c->cframe + l->cframe_previous, &outer) && outer &&
           pypages_word(pages, c->cframe + l->cframe_current, &c->frame) && c->frame;
}

static inline bool is_at_end(const struct pylayout *l, struct pypages *pages, struct cursor *c)
{
    return !c->frame && (!l->entry_is_a_frame || !enter_cframe(l, pages, c));
}

/* Reads the frame at *at and moves outwards. False: it is invalid. */
static bool read_link(struct kept_chain *c, const struct python *py, struct cursor *at,
                      struct pylink *link)
{
    const struct pylayout *l = py->layout;

    /* The byte lies after the words. */
    if (at->frame % sizeof at->frame ||
        !pypages_have(&c->pages, at->frame, (size_t)l->frame_entry + 1))
        return false;
    *link = (struct pylink){
        .frame = at->frame,
        .code = py_word(at->frame, l->frame_code),
        .mark = at->cframe,
        .entry = *(const uint8_t *)(at->frame + l->frame_entry) >= l->entry_is, /* NOLINT */
    };
    if (!link->entry || l->entry_is_a_frame)
        pynames_of(&c->codes, py, &c->pages, link->code & ~(uintptr_t)l->code_tags, &link->name);
    at->frame = py_word(link->frame, l->frame_previous);
    if (l->entry_is_a_frame && link->entry) {
        at->frame = 0;
        if (!pypages_word(&c->pages, link->mark + l->cframe_previous, &at->cframe))
            at->cframe = 0;
    }
    return true;
}

/* ---- comparing ---- */

/* An address that is equal to one that was just loaded. The compiler must not load from that one
 * instead, because the load would have to wait. */
static inline uintptr_t known_address(uintptr_t at)
{
    __asm__("" : "+r"(at));
    return at;
}

/* Compares link `i` with the frame at *at, and moves outwards if it is that frame. */
FLAME_INLINE bool is_link(const struct kept_chain *c, const struct pylayout *l, uint32_t i,
                          struct cursor *at, struct same_texts *files)
{
    const struct pylink *link = &c->links[i];
    uintptr_t frame = known_address(link->frame);

    if (l->entry_is_a_frame) {
        uintptr_t cframe = known_address(link->mark);

        if (at->cframe != cframe)
            return false;
        if (!at->frame) {
            if (!py_word(cframe, l->cframe_previous))
                return false;
            at->frame = py_word(cframe, l->cframe_current);
        }
    }
    if (at->frame != frame || py_word(frame, l->frame_code) != link->code ||
        (*(const uint8_t *)(frame + l->frame_entry) >= l->entry_is) != link->entry) /* NOLINT */
        return false;
    if ((l->entry_is_a_frame || !link->entry) && !pynames_hold(l, &link->name, files))
        return false;
    at->frame = py_word(frame, l->frame_previous);
    if (l->entry_is_a_frame && link->entry) {
        at->frame = 0;
        at->cframe = py_word(known_address(link->mark), l->cframe_previous);
    }
    return true;
}

/* Compares links from `i` outwards with the chain from *at on. Returns the number of links further
 * out than the last one that is the same. */
FLAME_INLINE uint32_t compare_by(const struct kept_chain *c, struct pylayout l, uint32_t i,
                                 struct cursor *at)
{
    struct same_texts files = {0};
    struct cursor here = *at;
    uint32_t left = i + 1;

    while (left && is_link(c, &l, left - 1, &here, &files))
        left--;
    *at = here;
    return left;
}

/* Offsets are constants in each of these. */
static uint32_t compare(const struct kept_chain *c, const struct pylayout *l, uint32_t i,
                        struct cursor *at)
{
    switch (l->version) {
    case 0x30b:
        return compare_by(c, (struct pylayout)PYLAYOUT_3_11, i, at);
    case 0x30c:
        return compare_by(c, (struct pylayout)PYLAYOUT_3_12, i, at);
    case 0x30d:
        return compare_by(c, (struct pylayout)PYLAYOUT_3_13, i, at);
    case 0x30e:
        return compare_by(c, (struct pylayout)PYLAYOUT_3_14, i, at);
    case 0x30f:
        return compare_by(c, (struct pylayout)PYLAYOUT_3_15, i, at);
    default:
        return i + 1;
    }
}

/* ---- following ---- */

static inline uint32_t *slot_of(struct kept_chain *c, uintptr_t frame)
{
    return &c->slots[(frame * HASH_GOLDEN >> 32) % KEPT_CHAIN_SLOTS];
}

/* The number of the link for `frame`, among the `most` outermost ones. UINT32_MAX: none is found.
 */
static inline uint32_t find(struct kept_chain *c, uintptr_t frame, uint32_t most)
{
    uint32_t i = most - 1;

    if (!most)
        return UINT32_MAX;
    if (c->links[i].frame == frame)
        return i;
    i = *slot_of(c, frame);
    return i < most && c->links[i].frame == frame ? i : UINT32_MAX;
}

static bool push(struct kept_chain *c, const struct pylink *link)
{
    if (unlikely(c->fresh_n == c->fresh_cap) && !widen(&c->fresh, &c->fresh_cap))
        return false;
    c->fresh[c->fresh_n++] = *link;
    return true;
}

/* Sets what links from number `from` on have from the links further out. */
static void connect(struct kept_chain *c, const struct pylayout *l, uint32_t from)
{
    uint32_t parent = c->base ? chain_ids_add(&c->ids, 0, (uint64_t)1 << 62 | c->base) : 0;

    if (from)
        parent = c->links[from - 1].id;
    for (uint32_t i = from; i < c->n; parent = c->links[i++].id) {
        struct pylink *link = &c->links[i];

        if (!l->entry_is_a_frame)
            link->mark = link->entry ? link->frame : i ? c->links[i - 1].mark : 0;
        link->id = link->entry ? chain_ids_add(&c->ids, parent, link->mark) : parent;
        if (link->name.pc)
            link->id = chain_ids_add(&c->ids, link->id, link->name.pc);
    }
    c->id = parent;
}

/* Puts the fresh links in place of all but the `kept` outermost ones. */
static bool conclude(struct kept_chain *c, const struct pylayout *l, uint32_t kept)
{
    c->n = kept + c->fresh_n;
    while (unlikely(c->n > c->cap))
        if (!widen(&c->links, &c->cap)) {
            c->n = 0;
            return false;
        }
    for (uint32_t i = kept; i < c->n; i++) {
        c->links[i] = c->fresh[c->n - 1 - i];
        *slot_of(c, c->links[i].frame) = i;
    }
    connect(c, l, kept);
    if (unlikely(c->fresh_cap > FRESH_MOST)) {
        pages_free(c->fresh, c->fresh_cap * sizeof *c->fresh);
        c->fresh = NULL;
        c->fresh_cap = 0;
    }
    return true;
}

/* Follows the chain from *at on, from one frame or kept link to the next. */
static FLAME_NOINLINE bool read_on(struct kept_chain *c, const struct python *py, struct cursor *at,
                                   uint32_t most)
{
    struct pylink link;

    while (!is_at_end(py->layout, &c->pages, at)) {
        uint32_t i = find(c, at->frame, most), left;

        if (i == UINT32_MAX) {
            if (!read_link(c, py, at, &link))
                return conclude(c, py->layout, 0);
            if (!push(c, &link))
                return false;
            continue;
        }
        left = compare(c, py->layout, i, at);
        if (!left && is_at_end(py->layout, &c->pages, at))
            return conclude(c, py->layout, i + 1);
        /* The frames up to the one that differs have other callers. */
        for (uint32_t same = i + 1; same-- > left;)
            if (!push(c, &c->links[same]))
                return false;
        most = left ? left - 1 : 0; /* that one may be at the same address, as another function's */
    }
    return conclude(c, py->layout, 0);
}

static FLAME_COLD void forget(struct kept_chain *c, uint32_t trace)
{
    if (c->trace != trace)
        c->ids.n = 0;
    if (c->trace != trace && c->ids.known)
        memset(c->ids.known, 0, c->ids.size * sizeof *c->ids.known);
    c->n = 0;
    c->changes = c->pages.changes;
    c->trace = trace;
}

uint32_t kept_chain_follow(struct kept_chain *c, const struct python *py, uint32_t base)
{
    uintptr_t chain = beginning(py, &c->pages);
    struct cursor at = {.frame = chain};
    uint32_t trace = pynames_trace();

    if (!chain)
        return 0;
    if (unlikely(c->changes != c->pages.changes || c->trace != trace))
        forget(c, trace);
    if (unlikely(c->base != base)) {
        c->base = base;
        connect(c, py->layout, 0);
    }
    if (py->layout->entry_is_a_frame)
        at = (struct cursor){.cframe = chain};
    c->fresh_n = 0;
    pynames_next_stack(&c->codes);
    if (!read_on(c, py, &at, c->n))
        c->n = 0;
    return c->n ? c->id : CHAIN_IDS_NONE;
}

/* A hash of all that stacks have from the chain. */
static uint64_t hash_of(const struct kept_chain *c)
{
    uint64_t hash = c->n;

    for (uint32_t i = 0; i < c->n; i++)
        hash = ((hash ^ hash >> 29) + c->links[i].mark + c->links[i].name.pc) * HASH_GOLDEN;
    return hash;
}

bool kept_chain_is_right(struct kept_chain *c, const struct python *py, uint32_t base)
{
    uint64_t hash;

    kept_chain_follow(c, py, base);
    hash = hash_of(c);
    c->n = 0;
    kept_chain_follow(c, py, base);
    return hash_of(c) == hash;
}
