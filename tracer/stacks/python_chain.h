/*
 * python_chain.h: functions of Python that a stopped or sleeping thread of another process runs,
 * read from the interpreter's memory.
 *
 * The interpreter's list of threads leads to the thread's state, by the thread's number in the
 * kernel. From there on the frames are those of unwind/python/kept_chain.c. Nothing in the process
 * is trusted: each word is read by the kernel, each loop has a limit, and a thread that runs
 * meanwhile yields at worst names of functions that it left.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_PYTHON_CHAIN_H
#define FLAME_TRACER_STACKS_PYTHON_CHAIN_H

#include "tracer/stacks/image.h"
#include "tracer/stacks/memory_pieces.h"
#include "unwind/python/pylayout.h"

/* A name in the form of CPython's own map for perf, py::QUALIFIED.NAME:FILE, in UTF-8. It lives as
 * long as the chains. */
struct python_name {
    size_t len;
    uint32_t number; /* from 1 on; other names have other numbers */
    char text[];
};

/* A function of a chain. */
struct python_function {
    uintptr_t mark; /* an address on the C stack, in the native frame that runs it; 0: not known */
    const struct python_name *name;
};

/* Limit of functions of a chain; those further out are missing. */
#define PYTHON_FUNCTIONS_MOST (1u << 18)

struct python_chains;

struct python_chains *python_chains_new(void);
void python_chains_free(struct python_chains *c);

/* A name that was read from another place. */
const struct python_name *python_chains_intern(struct python_chains *c, const char *text,
                                               size_t len);
/* The name of that number; NULL: there is none. */
const struct python_name *python_chains_name(const struct python_chains *c, uint32_t number);

/* A process and its interpreter. */
struct python_process {
    pid_t pid;
    uint32_t epoch; /* differs when other code may be at its addresses */
    struct image_python at;
};

/* Reads the functions that `tid` runs, innermost first; `thread` is a small number of it. Returns
 * how many there are. They are valid until the next call. */
size_t python_chain_read(struct python_chains *c, const struct python_process *p, pid_t tid,
                         uint16_t thread, const struct python_function **functions);

/* Likewise, for tests: the interpreter knows the thread by the number `inner`. */
size_t python_chain_read_as(struct python_chains *c, const struct python_process *p, pid_t tid,
                            pid_t inner, const struct python_function **functions);

#endif
