/*
 * biggest.h: the stacks with the largest counts of folded text, for people.
 */
#ifndef FLAME_DRIVER_BIGGEST_H
#define FLAME_DRIVER_BIGGEST_H

#include "common/strbuf.h"

/*
 * Prints the `n` largest stacks of the folded text on standard error, largest
 * first, each with its bytes and its frames from the leaf to the root (at most 12
 * of them, the middle left out).
 */
void biggest_print(const struct strbuf *folded, size_t n);

#endif
