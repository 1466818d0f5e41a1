/*
 * pynames.h: names of Python's functions in the trace, by their code objects.
 *
 * A name is written when the function is first met, as its code object may go afterwards. The name
 * is the one that CPython's own map for perf would have, py::QUALIFIED.NAME:FILE. A code object is
 * recognised by its address and by its names, as another one may come to the address.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYNAMES_H
#define FLAME_PRELOAD_PYTHON_PYNAMES_H

#include "preload/python/pyframes.h"

/* Code objects that a thread has met. All zero at first. */
#define PYCODES 512u
struct pycodes {
    uint32_t trace;     /* number of the trace that has the names */
    uintptr_t filename; /* of the last function, in the same stack; 0: none */
    uint64_t filename_stamp;
    struct pycode {
        uintptr_t code;
        uintptr_t qualname, filename;
        uint64_t stamps; /* of both texts */
        uint32_t line;
        uint64_t pc; /* of the name, as in truncate.h */
    } known[PYCODES];
};

/* To be called before each stack: texts that were read before may be others now. */
static inline void pynames_next_stack(struct pycodes *codes)
{
    codes->filename = 0;
}

/* The pc that stacks have for the code object's function, with `?` for parts of its name that
 * cannot be read. 0: it is no function of the program's, or there is no room for it. */
uint64_t pynames_of(struct pycodes *codes, const struct python *py, struct pypages *pages,
                    uintptr_t code);

/* In a forked child, whose trace has no names yet. */
void pynames_after_fork(void);

#endif
