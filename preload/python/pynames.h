/*
 * pynames.h: names of Python's functions in the trace, by their code objects.
 *
 * A name is written when the function is first met, as its code object may go afterwards. It is the
 * one that CPython's own map for perf would give it, py::QUALIFIED.NAME:FILE. A code object is
 * known again by its address and by what its names are, as another one may come to the address.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYNAMES_H
#define FLAME_PRELOAD_PYTHON_PYNAMES_H

#include "preload/python/pyframes.h"

/* Code objects that a thread has met. All zero at first. */
#define PYCODES 512u
struct pycodes {
    uint32_t trace;     /* which trace the names are in */
    uintptr_t filename; /* of the function before, in the same stack; 0: none */
    uint64_t filename_stamp;
    struct pycode {
        uintptr_t code;
        uintptr_t qualname, filename;
        uint64_t stamps; /* of both texts */
        uint32_t line;
        uint64_t pc; /* as cut.h has names */
    } known[PYCODES];
};

/* To be called before each stack: texts that were looked at before may be others now. */
static inline void pynames_next_stack(struct pycodes *codes)
{
    codes->filename = 0;
}

/* What stands for the code object's function in stacks, with `?` for what could not be read of its
 * name; 0: it is none of the program's, or there is no room for it. */
uint64_t pynames_of(struct pycodes *codes, const struct python *py, struct pypages *pages,
                    uintptr_t code);

/* In a forked child, in whose trace no name is. */
void pynames_after_fork(void);

#endif
