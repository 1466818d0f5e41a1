/*
 * Stacks with Python's functions. A mark of pyframes.h lies in the native frame that runs the
 * functions with that mark: between the stack pointers of that frame and of its caller. So both
 * lists are read once, from the innermost frame outwards. If a mark lies in no frame, as on a stack
 * that the walk did not reach, the remaining frames get no names.
 */
#include "preload/python/pystacks.h"

#include "common/pages.h"
#include "preload/python/pynames.h"
#include "preload/record.h"
#include "preload/runtime/log.h"
#include "unwind/modules.h"

/* A thread's state for Python stacks, in pages. */
struct pythread {
    struct pypages pages;
    struct pyframes frames;
    struct pycodes codes;
    uintptr_t *pcs; /* the stack with names */
    uint32_t cap;
};

void pystacks_begin(void)
{
    uint32_t unknown;

    pyframes_look(NULL, &unknown);
    record_python_unknown(unknown);
    __atomic_fetch_or(&features_on, FEATURE_PYTHON, __ATOMIC_RELEASE);
}

FLAME_COLD void record_python_unknown(uint32_t version)
{
    static bool said;
    struct log_number major, minor;

    if (!version || __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    if (!pylayout_of(PYLAYOUT_ANY))
        log_line(
            "functions of Python have no names on this processor, only on x86-64; its frames are "
            "native ones",
            NULL);
    else if (version == PYTHON_OLD)
        log_line("functions of a Python older than 3.11 have no names; its frames are native ones",
                 NULL);
    else if (version == PYTHON_FREE_THREADED)
        log_line("functions of a Python that is built without a GIL have no names; its frames are "
                 "native ones",
                 NULL);
    else
        log_line("functions of Python ", log_unsigned(&major, version >> 8), ".",
                 log_unsigned(&minor, version & 0xff),
                 " have no names here: they are known of 3.11 to 3.13; its frames are native ones",
                 NULL);
}

void record_python_memory_goes(void)
{
    pyframes_memory_goes();
}

void record_python_module(uintptr_t pc)
{
    const struct link_map *module;
    uint32_t unknown = 0;

    if (pyframes_python() || !(module = modules_link_map(pc)))
        return;
    pyframes_look(module, &unknown);
    record_python_unknown(unknown);
}

/* Beginning of the thread's chain of Python frames; 0: it runs none. */
static uintptr_t chain_of(struct thread_state *t, const struct python **py)
{
    *py = pyframes_python();
    if (!*py)
        return 0;
    if (unlikely(!t->python) && !(t->python = pages_alloc(sizeof *t->python)))
        return 0;
    return pyframes_chain(*py, &t->python->pages);
}

bool record_in_python(struct thread_state *t)
{
    const struct python *py;

    return chain_of(t, &py) != 0;
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

/* Merges both lists, from the inner end of p->pcs on. Returns the beginning of the merged stack. */
static uintptr_t *put_together(struct pythread *p, const struct python *py,
                               const struct local_stack *s, uintptr_t *at)
{
    const struct pyframe *f = p->frames.list, *end = f + p->frames.n;

    for (uint32_t i = s->len; i-- > 0; *--at = s->pcs[i])
        for (; f < end && local_holds(s, i, f->mark); f++) {
            uint64_t name = pynames_of(&p->codes, py, &p->pages, f->code);

            if (name)
                *--at = name;
        }
    return at;
}

bool record_with_python(struct thread_state *t, struct truncated_stack *out)
{
    const struct local_stack *s = &t->stack;
    const struct python *py;
    uintptr_t chain = chain_of(t, &py), *at, *end;
    struct pythread *p = t->python;

    if (!chain || !s->joinable)
        return false;
    pyframes_read(py, &p->pages, chain, &p->frames);
    if (!p->frames.n || !make_room(p, s->len + p->frames.n))
        return false;
    pynames_next_stack(&p->codes);
    end = p->pcs + p->cap;
    at = put_together(p, py, s, end);
    *out = (struct truncated_stack){.pcs = at, .n = (uint32_t)(end - at)};
    return true;
}
