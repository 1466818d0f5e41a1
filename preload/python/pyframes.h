/*
 * pyframes.h: functions that a Python interpreter in this process runs in the calling thread.
 *
 * The interpreter has a chain of frames for each thread. The chain is read here, and no function of
 * Python is called. A thread reads only its own data: its state comes from thread-specific data,
 * and the frames and code objects stay in place while they run. So the data is valid as long as the
 * interpreter works as expected. Nevertheless the kernel is asked whether it is mapped, a page at a
 * time, and again when memory was unmapped.
 *
 * Any thread, for itself, also in signal handlers. No malloc, no lock; errno may change.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYFRAMES_H
#define FLAME_PRELOAD_PYTHON_PYFRAMES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "preload/python/pylayout.h"

/* An interpreter. */
struct python {
    const struct pylayout *layout;
    uintptr_t runtime, code_type, text_type; /* _PyRuntime, PyCode_Type, PyUnicode_Type */
};

/* Pages that the kernel says are readable. One struct for each thread; all zero at first. */
#define PYPAGES 256u
struct pypages {
    uint32_t changes;
    uintptr_t page[PYPAGES];
};

/* A running function. */
struct pyframe {
    uintptr_t code; /* PyCodeObject */
    uintptr_t mark; /* an address in the native frame of the loop that runs it; 0: not known */
};

/* Frames, innermost first; in pages. All zero at first. */
#define PYFRAMES_MOST (1u << 20)
#define PYFRAMES_STEPS (1u << 22) /* limit of frames that are read */
struct pyframes {
    struct pyframe *list;
    uint32_t n, cap;
};

/*
 * Searches a module for an interpreter, or all modules if it is NULL. Returns whether an
 * interpreter is known now. An interpreter of an unknown version does not count; *unknown is then
 * its version, major << 8 | minor, or one of the two values below, and otherwise 0. To be called at
 * the program's start, or with a module that the calling thread is in.
 */
#define PYTHON_OLD 1u           /* an old version, without the word that has the version */
#define PYTHON_FREE_THREADED 2u /* built without a global lock (Py_GIL_DISABLED) */
struct link_map;
bool pyframes_look(const struct link_map *module, uint32_t *unknown);

/* The interpreter; NULL: none was found. */
const struct python *pyframes_python(void);

/* To be called when memory is unmapped or gets other contents. Any thread. */
void pyframes_memory_goes(void);

/* Whether [at, at + size) can be read. */
bool pypages_ask(struct pypages *pages, uintptr_t at, size_t size);

static inline uintptr_t *pypages_place(struct pypages *pages, uintptr_t page)
{
    return &pages->page[(page ^ page >> 8) % PYPAGES];
}

static inline bool pypages_have(struct pypages *pages, uintptr_t at, size_t size)
{
    uintptr_t page = at >> 12;

    /* Page 0 would match a table that is all zero. */
    return likely(page && *pypages_place(pages, page) == page && (at + size - 1) >> 12 == page) ||
           pypages_ask(pages, at, size);
}

/* Reads the interpreter's word at `at`. False: it cannot be read. */
static inline bool pypages_word(struct pypages *pages, uintptr_t at, uintptr_t *word)
{
    if (unlikely(at % sizeof *word || !pypages_have(pages, at, sizeof *word)))
        return false;
    *word = *(const uintptr_t *)at; /* NOLINT */
    return true;
}

/* The word at an offset of a struct that pypages_have has checked as a whole. */
static inline uintptr_t py_word(uintptr_t at, unsigned offset)
{
    return *(const uintptr_t *)(at + offset); /* NOLINT */
}

/* Beginning of the calling thread's chain of frames; 0: it runs no Python. */
uintptr_t pyframes_chain(const struct python *py, struct pypages *pages);

/* Reads that chain. An invalid frame ends it. */
void pyframes_read(const struct python *py, struct pypages *pages, uintptr_t chain,
                   struct pyframes *out);

#endif
