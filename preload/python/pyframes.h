/*
 * pyframes.h: the functions that a Python interpreter in this process runs in the calling thread.
 *
 * The interpreter keeps a chain of frames for each thread; it is read here, and no function of
 * Python's is called. What a thread reads belongs to it: its state comes from thread-specific data,
 * and the frames and code objects stay while they run. So what is read is in place as long as the
 * interpreter is as it should be; that it is mapped is asked of the kernel all the same, a page at
 * a time, and again when memory has gone.
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

/* Pages that can be read, as the kernel said. One for each thread; all zero at first. */
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

/* Frames, the innermost first; in pages. All zero at first. */
#define PYFRAMES_MOST (1u << 20)
#define PYFRAMES_STEPS (1u << 22) /* so many are looked at */
struct pyframes {
    struct pyframe *list;
    uint32_t n, cap;
};

/*
 * Looks for an interpreter in a module, or, if that is NULL, in all there are, and returns whether
 * one is known now. An interpreter that is not known is none; *unknown is then its version,
 * major << 8 | minor, or one of the two below, and 0 otherwise. At the program's start, or with a
 * module that the calling thread is in.
 */
#define PYTHON_OLD 1u           /* older than all that say their version */
#define PYTHON_FREE_THREADED 2u /* built without a lock for all of it (Py_GIL_DISABLED) */
struct link_map;
bool pyframes_look(const struct link_map *module, uint32_t *unknown);

/* The interpreter; NULL: none was found. */
const struct python *pyframes_python(void);

/* To be called when memory goes or changes what it is. Any thread. */
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

    /* Page 0 would be in a table that is all zero. */
    return likely(page && *pypages_place(pages, page) == page && (at + size - 1) >> 12 == page) ||
           pypages_ask(pages, at, size);
}

/* The word of the interpreter's at `at`; false: there is none. */
static inline bool pypages_word(struct pypages *pages, uintptr_t at, uintptr_t *word)
{
    if (unlikely(at % sizeof *word || !pypages_have(pages, at, sizeof *word)))
        return false;
    *word = *(const uintptr_t *)at; /* NOLINT */
    return true;
}

/* The word at an offset of something that pypages_have was asked of as a whole. */
static inline uintptr_t py_word(uintptr_t at, unsigned offset)
{
    return *(const uintptr_t *)(at + offset); /* NOLINT */
}

/* Where the calling thread's chain of frames begins; 0: it runs no Python. */
uintptr_t pyframes_chain(const struct python *py, struct pypages *pages);

/* Reads that chain. What makes no sense ends it. */
void pyframes_read(const struct python *py, struct pypages *pages, uintptr_t chain,
                   struct pyframes *out);

#endif
