/*
 * Problem: each native frame of the interpreter's loop runs functions of Python, which must be
 * found.
 *
 * Algorithm: a native frame of the loop runs one frame of Python or several, as a call of one
 * function by another does not nest in C. In 3.11 each native frame has a structure on the C stack
 * (_PyCFrame) that leads to the innermost of its frames; `is_entry` marks the outermost. In 3.12
 * and 3.13 the mark is a frame that lies on the C stack itself (FRAME_OWNED_BY_CSTACK) and belongs
 * to no function. So an address on the C stack identifies the native frame, whatever its code is
 * called and however the compiler has cut it up.
 *
 * Rejected: finding these native frames by the symbol _PyEval_EvalFrameDefault, because compilers
 * move parts of it elsewhere (.cold), and stripped programs do not have the symbol.
 */
#define _GNU_SOURCE
#include "preload/python/pyframes.h"

#include <pthread.h>

#include "common/kernel.h"
#include "common/pages.h"
#include "unwind/dynsym.h"
#include "common/env/loaderlist.h"
#include "unwind/modules.h"

#define FIRST_FRAMES 128u

/* Weak, because before glibc 2.34 it is in a library of its own, which an interpreter with
 * threads has loaded and other programs need not have. */
#pragma weak pthread_getspecific

static struct python found;
static const struct python *python; /* &found once it is filled in */

/* ---- finding the interpreter ---- */

/* Whether the interpreter is built without a GIL. 3.13 has that in a table for debuggers
 * (_Py_DebugOffsets) with which _PyRuntime begins. */
static bool is_free_threaded(uintptr_t runtime, uint32_t version)
{
    static const char cookie[] = "xdebugpy";
    const struct {
        char cookie[sizeof cookie - 1];
        uint64_t version, free_threaded;
    } *table = (const void *)runtime; /* NOLINT */

    return version >= 0x30d && memcmp(table->cookie, cookie, sizeof table->cookie) == 0 &&
           table->free_threaded;
}

/* Address of one of the interpreter's types, as the interpreter itself finds it. A program that
 * uses the type by name may have copied it into its own data (R_X86_64_COPY), and then all
 * libraries use that copy. */
static uintptr_t find_type(const struct dynsym *interpreter, const char *name)
{
    struct dynsym program;
    uintptr_t at;

    dynsym_open(&program, loaderlist()->r_map);
    at = dynsym_find_version(&program, name, NULL);
    return at ? at : dynsym_find_version(interpreter, name, NULL);
}

static bool look_at(const struct link_map *module, struct python *py, uint32_t *unknown)
{
    struct dynsym d;
    uintptr_t version;

    dynsym_open(&d, module);
    py->runtime = dynsym_find_version(&d, "_PyRuntime", NULL);
    if (!py->runtime)
        return false;
    /* An interpreter without that word is older than 3.11. */
    version = dynsym_find_version(&d, "Py_Version", NULL);
    *unknown =
        version ? (uint32_t)(*(const unsigned long *)version >> 16) : PYTHON_OLD; /* NOLINT */
    py->layout = version ? pylayout_of(*unknown) : NULL;
    if (is_free_threaded(py->runtime, *unknown)) {
        *unknown = PYTHON_FREE_THREADED;
        return false;
    }
    py->code_type = find_type(&d, "PyCode_Type");
    py->text_type = find_type(&d, "PyUnicode_Type");
    if (!py->layout || !py->code_type || !py->text_type)
        return false;
    *unknown = 0;
    return true;
}

bool pyframes_look(const struct link_map *module, uint32_t *unknown)
{
    static int taken;
    struct python py;

    *unknown = 0;
    for (const struct link_map *m = module ? module : loaderlist()->r_map; m && !pyframes_python();
         m = module ? NULL : m->l_next) {
        if (!look_at(m, &py, unknown))
            continue;
        if (__atomic_exchange_n(&taken, 1, __ATOMIC_ACQ_REL))
            break;
        found = py;
        __atomic_store_n(&python, &found, __ATOMIC_RELEASE);
    }
    return pyframes_python() != NULL;
}

const struct python *pyframes_python(void)
{
    return __atomic_load_n(&python, __ATOMIC_ACQUIRE);
}

/* ---- memory ---- */

static uint32_t gone;

void pyframes_memory_goes(void)
{
    __atomic_fetch_add(&gone, 1, __ATOMIC_RELEASE);
}

bool pypages_ask(struct pypages *pages, uintptr_t at, size_t size)
{
    if (at < 4096 || at + size < at)
        return false;
    for (uintptr_t page = at >> 12; page <= (at + size - 1) >> 12; page++) {
        uintptr_t *place = pypages_place(pages, page);
        uintptr_t *other = &pages->page[(uint32_t)(place - pages->page) ^ 1];

        if (*place == page)
            continue;
        if (*other != page && !kernel_readable(page << 12, 1))
            return false;
        *other = *place;
        *place = page;
    }
    return true;
}

static void follow_changes(struct pypages *pages)
{
    uint32_t changes = __atomic_load_n(&gone, __ATOMIC_ACQUIRE) + modules_changes();

    if (unlikely(pages->changes != changes))
        *pages = (struct pypages){.changes = changes};
}

/* ---- frames ---- */

/* The calling thread's PyThreadState, or 0. */
static uintptr_t thread_state(const struct python *py, struct pypages *pages)
{
    uintptr_t key, state, thread;

    /* A Py_tss_t: a flag whether it is in use, and a key, of 4 bytes each. */
    if (!pthread_getspecific || !pypages_word(pages, py->runtime + py->layout->runtime_key, &key) ||
        (uint32_t)key != 1)
        return 0;
    state = (uintptr_t)pthread_getspecific((pthread_key_t)(key >> 32));
    if (!state || !pypages_word(pages, state + py->layout->state_thread, &thread) ||
        thread != (uintptr_t)pthread_self())
        return 0;
    return state;
}

uintptr_t pyframes_chain(const struct python *py, struct pypages *pages)
{
    const struct pylayout *l = py->layout;
    uintptr_t state, chain, inner;

    follow_changes(pages);
    state = thread_state(py, pages);
    if (!state || !pypages_word(pages, state + l->state_frames, &chain) || !chain)
        return 0;
    if (!l->has_cframes)
        return chain;
    /* The _PyCFrame of a thread that runs no function is the one in its state. */
    if (!pypages_word(pages, chain + l->cframe_current, &inner) || !inner)
        return 0;
    return l->entry_is_a_frame ? chain : inner;
}

static FLAME_COLD bool widen(struct pyframes *f)
{
    uint32_t cap = f->cap ? f->cap * 2 : FIRST_FRAMES;
    struct pyframe *more;

    if (cap > PYFRAMES_MOST)
        return false;
    more = f->list ? pages_resize(f->list, f->cap * sizeof *more, cap * sizeof *more)
                   : pages_alloc(cap * sizeof *more);
    if (!more)
        return false;
    f->list = more;
    f->cap = cap;
    return true;
}

static inline bool add(struct pyframes *f, uintptr_t code, uintptr_t mark)
{
    if (unlikely(f->n == f->cap) && !widen(f))
        return false;
    f->list[f->n++] = (struct pyframe){code, mark};
    return true;
}

/* Fields of one frame of Python. */
struct frame {
    uintptr_t code, previous;
    bool entry;
};

static inline bool read_frame(const struct pylayout *l, struct pypages *pages, uintptr_t at,
                              struct frame *f)
{
    /* The byte lies after the words. */
    if (unlikely(at % sizeof at || !pypages_have(pages, at, (size_t)l->frame_entry + 1)))
        return false;
    f->code = py_word(at, l->frame_code);
    f->previous = py_word(at, l->frame_previous);
    f->entry = *(const uint8_t *)(at + l->frame_entry) == l->entry_is; /* NOLINT */
    return true;
}

/* Reads frames by _PyCFrame (3.11): the mark of a native frame is known before its Python
 * frames. */
static void read_by_cframes(const struct pylayout *l, struct pypages *pages, uintptr_t cframe,
                            struct pyframes *out)
{
    struct frame f;
    uintptr_t at;

    while (cframe) {
        uintptr_t mark = cframe;

        if (!pypages_word(pages, cframe + l->cframe_current, &at) ||
            !pypages_word(pages, cframe + l->cframe_previous, &cframe))
            return;
        if (!cframe) /* the outermost one is not on the stack and runs no function */
            return;
        do {
            if (!at || !read_frame(l, pages, at, &f) || !add(out, f.code, mark))
                return;
            at = f.previous;
        } while (!f.entry);
    }
}

/* Reads frames by entries (3.12, 3.13): the mark follows the frames that it belongs to. */
static void read_by_entries(const struct pylayout *l, struct pypages *pages, uintptr_t at,
                            struct pyframes *out)
{
    uint32_t first = 0;
    struct frame f;

    /* If there is no room for all frames, the outer ones are dropped, but the mark is still
     * found. */
    for (uint32_t left = PYFRAMES_STEPS; at && left-- && read_frame(l, pages, at, &f);
         at = f.previous) {
        if (!f.entry) {
            add(out, f.code, 0);
            continue;
        }
        for (; first < out->n; first++)
            out->list[first].mark = at;
    }
    out->n = first;
}

void pyframes_read(const struct python *py, struct pypages *pages, uintptr_t chain,
                   struct pyframes *out)
{
    out->n = 0;
    if (py->layout->entry_is_a_frame)
        read_by_cframes(py->layout, pages, chain, out);
    else
        read_by_entries(py->layout, pages, chain, out);
}
