/*
 * pystacks.h: stacks with the functions of Python between the native frames that run them.
 *
 * record.c calls record_python_may_recall and record_with_python (preload/record.h), which are
 * defined here.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYSTACKS_H
#define FLAME_PRELOAD_PYTHON_PYSTACKS_H

#include <stdbool.h>

/* From now on stacks contain Python's functions. `referee`: each chain of frames is read twice (a
 * test mode). */
void pystacks_begin(bool referee);

#endif
