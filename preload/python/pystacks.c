/*
 * Stacks with Python's functions. A mark (kept_chain.h) lies in the native frame that runs the
 * functions with that mark: between the stack pointers of that frame and of its caller. So both
 * lists are read once, from the innermost frame outwards. If a mark lies in no frame, as on a stack
 * that the walk did not reach, the remaining frames get no names.
 *
 * With `-X perf` the interpreter's loop is called by code that was made at run time for that one
 * function, and that its map for perf gives the function's name. Such a frame is left out where the
 * function has its name from here.
 */
#include "preload/python/pystacks.h"

#include "common/hash.h"
#include "common/pages.h"
#include "preload/counted_event.h"
#include "unwind/python/kept_chain.h"
#include "preload/record.h"
#include "preload/runtime/log.h"
#include "unwind/modules.h"

#define EXAMINED 256u

struct record_python record_python;

/* Set in the test mode. */
static bool referee;

/* A thread's state for Python stacks, in pages. */
struct pythread {
    struct kept_chain chain;
    uintptr_t module, module_size; /* a module that has called the interpreter's loop */
    uintptr_t *pcs;                /* the stack with names */
    uint32_t cap;
};

static void look(const struct link_map *module)
{
    uint32_t unnamed;

    if (pyframes_look(module, &unnamed))
        __atomic_store_n(&record_python.found, true, __ATOMIC_RELEASE);
    if (!unnamed)
        return;
    record_python.unnamed = unnamed;
    if (store.writer.header) /* otherwise the trace will begin with it */
        store.writer.header->unnamed_python = unnamed;
}

void pystacks_begin(bool with_referee)
{
    referee = with_referee;
    record_python.wanted = true;
    look(NULL);
}

/* Addresses of modules that were examined. Threads may overwrite each other's, and then a module is
 * examined again. */
static struct {
    uint32_t changes; /* of the modules */
    uintptr_t start[EXAMINED];
} examined;

void record_python_module(uintptr_t pc)
{
    const struct link_map *module;
    uint32_t changes = modules_changes();
    uintptr_t *place;
    struct module m;

    if (!modules_note(pc, &m))
        return;
    if (__atomic_exchange_n(&examined.changes, changes, __ATOMIC_RELAXED) != changes)
        memset(examined.start, 0, sizeof examined.start);
    place = &examined.start[(m.start * HASH_GOLDEN >> 32) % EXAMINED];
    if (__atomic_exchange_n(place, m.start, __ATOMIC_RELAXED) != m.start &&
        (module = modules_link_map(pc)))
        look(module);
}

/* ---- one stack ---- */

/* Brings the links of t's chain up to date, and sets the context of its stack. False: it runs no
 * Python. */
static inline bool follow(struct thread_state *t, const struct python *py)
{
    uint32_t id;

    if (unlikely(!t->python) && !(t->python = pages_alloc(sizeof *t->python)))
        return false;
    id = kept_chain_follow(&t->python->chain, py, t->tag);
    t->unmarkable = id == CHAIN_IDS_NONE;
    local_set_context(&t->stack, id && !t->unmarkable ? LOCAL_CONTEXTS / 2 + id : t->tag);
    return id != 0;
}

bool record_python_may_recall(struct thread_state *t)
{
    const struct python *py = pyframes_python();

    if (py)
        follow(t, py);
    return !t->unmarkable;
}

static bool make_room(struct pythread *p, uint32_t n)
{
    uint32_t cap = n + n / 2;
    uintptr_t *more;

    if (likely(n <= p->cap))
        return true;
    more = pages_alloc(cap * sizeof *more);
    if (!more)
        return false;
    if (p->pcs)
        pages_free(p->pcs, p->cap * sizeof *p->pcs);
    p->pcs = more;
    p->cap = cap;
    return true;
}

/* Whether the code at `pc`, which has called the interpreter's loop, was made at run time. */
static bool is_trampoline(struct pythread *p, uintptr_t pc)
{
    struct module m;

    if (likely(pc - p->module < p->module_size))
        return false;
    if (!modules_note(pc, &m))
        return true;
    p->module = m.start;
    p->module_size = m.end - m.start;
    return false;
}

/* Merges both lists, from the inner end of p->pcs on. Returns the beginning of the merged stack. */
static uintptr_t *put_together(struct pythread *p, const struct local_stack *s, uintptr_t *at)
{
    const struct pylink *links = p->chain.links;
    uint32_t left = p->chain.n;

    for (uint32_t i = s->len; i-- > 0;) {
        uint32_t names = 0;

        /* The outermost frame runs no functions, and where a walk ended early all others would lie
         * in it. */
        for (; i && left && local_holds(s, i, links[left - 1].mark); left--)
            if (links[left - 1].name.pc) {
                *--at = links[left - 1].name.pc;
                names++;
            }
        *--at = s->pcs[i];
        if (names == 1 && i && is_trampoline(p, s->pcs[i - 1]))
            i--;
    }
    return at;
}

bool record_with_python(struct thread_state *t, struct truncated_stack *out)
{
    const struct local_stack *s = &t->stack;
    const struct python *py = pyframes_python();
    struct pythread *p;
    uintptr_t *at, *end;

    if (!py || !follow(t, py) || !s->joinable)
        return false;
    p = t->python;
    if (unlikely(referee) && !kept_chain_is_right(&p->chain, py, t->tag)) {
        count_lost(&store.writer.header->referee_differences, 1);
        log_line("referee: functions of Python differ", NULL);
    }
    if (!p->chain.n || !make_room(p, s->len + p->chain.n))
        return false;
    end = p->pcs + p->cap;
    at = put_together(p, s, end);
    *out = (struct truncated_stack){.pcs = at, .n = (uint32_t)(end - at)};
    return true;
}
