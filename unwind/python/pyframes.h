/*
 * pyframes.h: functions that a Python interpreter in this process runs in the calling thread.
 *
 * The interpreter has a chain of frames for each thread. The chain is read here. No function of
 * Python's is called, except, from 3.15 on, the one that returns the thread's state, which is a
 * single load. A thread reads only its own data: its state comes from thread-specific data,
 * and the frames and code objects stay in place while they run. So the data is valid as long as the
 * interpreter works as expected. Nevertheless the kernel is asked whether it is mapped, a page at a
 * time, and again when memory was unmapped.
 *
 * Any thread, for itself, also in signal handlers. No malloc, no lock; errno may change.
 */
#ifndef FLAME_UNWIND_PYTHON_PYFRAMES_H
#define FLAME_UNWIND_PYTHON_PYFRAMES_H

#include <stdbool.h>

#include "common/compiler.h"
#include "common/hash.h"
#include "unwind/python/pylayout.h"

/* An interpreter. */
struct python {
    const struct pylayout *layout;
    uintptr_t runtime, code_type, text_type; /* _PyRuntime, PyCode_Type, PyUnicode_Type */
    void *(*state)(void);                    /* PyGILState_GetThisThreadState; NULL: not needed */
};

/* Pages that the kernel says are readable, the latest ones of each set first. One struct for each
 * thread; all zero at first. */
#define PYPAGES_SETS 256u
#define PYPAGES_SET 4u
struct pypages {
    uint32_t changes; /* differs when pages had to be forgotten */
    uintptr_t page[PYPAGES_SETS][PYPAGES_SET];
};

/*
 * Searches a module for an interpreter, or all modules if it is NULL. Returns whether an
 * interpreter is known now. An interpreter that is not understood does not count; *unnamed is then
 * as in struct trace_header, and otherwise 0. To be called at the program's start, or with a module
 * that the calling thread is in.
 */
struct link_map;
bool pyframes_look(const struct link_map *module, uint32_t *unnamed);

/* The interpreter; NULL: none was found. */
const struct python *pyframes_python(void);

/* Whether [at, at + size) can be read. */
bool pypages_ask(struct pypages *pages, uintptr_t at, size_t size);

static inline uintptr_t *pypages_set(struct pypages *pages, uintptr_t page)
{
    return pages->page[(page * HASH_GOLDEN >> 32) % PYPAGES_SETS];
}

static inline bool pypages_have(struct pypages *pages, uintptr_t at, size_t size)
{
    uintptr_t page = at >> 12;

    /* Page 0 would match a table that is all zero. */
    return likely(page && *pypages_set(pages, page) == page && (at + size - 1) >> 12 == page) ||
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

/* The key of the thread-specific data that has a thread's state. False: there is none. */
bool pyframes_key(const struct python *py, struct pypages *pages, uint32_t *key);

#endif
