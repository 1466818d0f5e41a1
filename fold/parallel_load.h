/*
 * parallel_load.h: two large folded files, loaded by two threads.
 *
 * This is only for the plain case: regular files of folded text, not packed, in which every line
 * is understood and whose "# flame:" lines are in the first half. In all other cases the caller
 * loads them in one thread, with the messages for them.
 */
#ifndef FLAME_FOLD_PARALLEL_LOAD_H
#define FLAME_FOLD_PARALLEL_LOAD_H

#include "fold/load.h"

/*
 * Does what load_file does for column 0 of paths[0] and column 1 of paths[1]. False: `l` is as
 * it was, because this is not the plain case or one thread does as well (small files, one
 * processor). `strip` is stackset_strip's. No other thread may use `l` meanwhile.
 */
bool parallel_load(struct load *l, char **paths, bool strip);

#endif
