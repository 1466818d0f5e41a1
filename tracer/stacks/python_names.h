/*
 * python_names.h: names of Python's code objects in another process.
 *
 * Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_PYTHON_NAMES_H
#define FLAME_TRACER_STACKS_PYTHON_NAMES_H

#include "tracer/stacks/memory_pieces.h"
#include "tracer/stacks/python_chain.h"

/* A text, as it was when it was read: its address, length and hash. The hash is the interpreter's,
 * or of the characters if there is none. */
struct text_identity {
    uintptr_t at, length;
    uint64_t hash;
};

struct code_identity {
    uintptr_t code;
    uint32_t line, version; /* version 0: the texts identify it */
    struct text_identity qualname, filename;
};

/* False: no code object is there. */
bool code_identity_read(struct code_identity *id, struct memory_pieces *p, const struct pylayout *l,
                        uintptr_t code);
bool code_identity_same(const struct code_identity *a, const struct code_identity *b);

struct python_names;

struct python_names *python_names_new(void);
void python_names_free(struct python_names *n);

const struct python_name *python_names_intern(struct python_names *n, const char *text, size_t len);
/* The name of that number; NULL: there is none. */
const struct python_name *python_names_at(const struct python_names *n, uint32_t number);

/* The name, with `?` for parts that cannot be read. NULL: the function is the interpreter's own. */
const struct python_name *python_names_make(struct python_names *n, struct memory_pieces *p,
                                            const struct pylayout *l,
                                            const struct code_identity *id);

#endif
