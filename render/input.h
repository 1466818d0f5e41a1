/*
 * input.h: folded text or a trace, from a file or standard input, as a tree.
 */
#ifndef FLAME_RENDER_INPUT_H
#define FLAME_RENDER_INPUT_H

#include "render/frametree.h"

struct input {
    struct frametree tree; /* finished */
    char *view;            /* from the "# flame:" line; NULL when it says nothing */
    char *unit;
    uint64_t stacks;  /* lines that held a stack */
    uint64_t unknown; /* lines that were not understood */
};

/*
 * Reads `path` (NULL or "-": standard input). A trace is folded to `view` first
 * (NULL: alloc). 0, or an enum flame_exit with one line on standard error; lines
 * that were not understood are counted in a warning there. After an error the
 * input is empty, else release it.
 */
int input_read(struct input *in, const char *path, const char *view, bool reverse);
void input_release(struct input *in);

#endif
