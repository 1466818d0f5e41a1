/*
 * textfile.h: files that folded stacks are written to.
 */
#ifndef FLAME_FOLD_STACKS_TEXTFILE_H
#define FLAME_FOLD_STACKS_TEXTFILE_H

#include "common/options/opts.h"

/*
 * The value of -o as a const char *. A name whose ending promises something else than text
 * is refused, because a picture that no viewer opens is found much later.
 */
opts_take textfile_take;

#endif
