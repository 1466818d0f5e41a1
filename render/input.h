/*
 * input.h: folded text and traces, from files or standard input, as one tree.
 */
#ifndef FLAME_RENDER_INPUT_H
#define FLAME_RENDER_INPUT_H

#include "render/frametree.h"

struct input {
    struct frametree tree; /* finished */
    char *view;            /* from the "# flame:" line; NULL when it says nothing */
    char *unit;
    char *sample; /* mean bytes between samples, as text; NULL: the counts are exact */
};

/*
 * Reads `paths` ("-": standard input, as with none) and merges what they hold.
 * Traces are folded to `view` first (NULL: alloc). 0, or an enum flame_exit with
 * one line on standard error; lines that were not understood are counted in a
 * warning there. After an error the input is empty, else release it.
 */
int input_read(struct input *in, char *const *paths, size_t npaths, const char *view, bool reverse);
void input_release(struct input *in);

#endif
