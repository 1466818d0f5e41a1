/*
 * pynames.h: names of Python's functions in the trace, by their code objects.
 *
 * A name is written when the function is first seen, because its code object may be freed
 * afterwards. It has the form of CPython's own map for perf, py::QUALIFIED.NAME:FILE. A code object
 * is recognised by its address and its names, because another one may get the address.
 *
 * The guard is held at GUARD_RECORDING. No malloc.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYNAMES_H
#define FLAME_PRELOAD_PYTHON_PYNAMES_H

#include "preload/python/pyframes.h"

/* Code objects that a thread has seen. All zero at first. */
#define PYCODES 512u
struct pycodes {
    uint32_t trace;     /* number of the trace that contains the names */
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

/* To be called before each stack: texts that were read before may have changed. */
static inline void pynames_next_stack(struct pycodes *codes)
{
    codes->filename = 0;
}

/* The pc that represents the code object's function in stacks, with `?` for parts of its name that
 * cannot be read. 0: it is no function of the program, or there is no room for it. */
uint64_t pynames_of(struct pycodes *codes, const struct python *py, struct pypages *pages,
                    uintptr_t code);

/* To be called in a forked child, whose trace has no names yet. */
void pynames_after_fork(void);

#endif
