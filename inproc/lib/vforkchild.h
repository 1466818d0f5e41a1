/*
 * vforkchild.h: whether a process that was just made is a child of vfork.
 *
 * A child of vfork runs on its parent's memory until it executes a program or ends. Fork's child
 * has a copy. Both have a process number that the memory does not have yet, so the number does not
 * distinguish them.
 */
#ifndef FLAME_INPROC_LIB_VFORKCHILD_H
#define FLAME_INPROC_LIB_VFORKCHILD_H

#include <stdbool.h>

/*
 * False: the calling thread's memory is not its parent's. True: it is, or may be. No libc; thread-
 * and signal-safe. Costs one call, or four.
 */
bool vforkchild_perhaps(void);

#endif
