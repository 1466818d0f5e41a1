/*
 * pieces.h: a text that comes a few bytes at a time, as through a pipe whose writer is slow.
 */
#ifndef FLAME_TESTS_UNIT_PIECES_H
#define FLAME_TESTS_UNIT_PIECES_H

#include "fold/stacks/textinput.h"

struct pieces {
    const char *text; /* borrowed */
    size_t len, at;
    size_t most;    /* bytes of a piece; 0: as many as there is room for */
    uint32_t state; /* of the sizes, which follow from it */
};

/* A textinput_source; `opaque` is a struct pieces. */
ssize_t pieces_read(void *opaque, char *to, size_t room);

/* Opens an input over them whose buffer begins with `buffer` bytes. */
void pieces_open(struct textinput *in, struct pieces *p, size_t buffer);

#endif
