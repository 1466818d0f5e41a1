/*
 * pystacks.h: stacks with the functions of Python between the native frames that run them.
 *
 * record.c calls record_in_python and record_with_python (preload/record.h), which are defined
 * here.
 */
#ifndef FLAME_PRELOAD_PYTHON_PYSTACKS_H
#define FLAME_PRELOAD_PYTHON_PYSTACKS_H

/* From now on stacks contain Python's functions. */
void pystacks_begin(void);

#endif
