/*
 * collapse_halves.h: two large folded files, loaded by two threads.
 *
 * Only for what is plain: regular files of folded text, not packed, in which every line is
 * understood and whose "# flame:" lines stand in the first half. Whoever calls loads
 * anything else in one thread, which has the messages for it.
 */
#ifndef FLAME_FOLD_COLLAPSE_HALVES_H
#define FLAME_FOLD_COLLAPSE_HALVES_H

#include "fold/collapse_load.h"

/*
 * As collapse_load_file for column 0 of paths[0] and column 1 of paths[1]. False: `l` is as
 * it was, also because one thread would do as well (small files, one processor). `strip`
 * is collapse_stacks_strip's. No other thread may use `l` meanwhile.
 */
bool collapse_halves_load(struct collapse_load *l, char **paths, bool strip);

#endif
