/*
 * pystacks.h: stacks with the functions of Python between the native frames that run them.
 *
 * record.c asks for them (record_in_python and record_with_python, in preload/record.h).
 */
#ifndef FLAME_PRELOAD_PYTHON_PYSTACKS_H
#define FLAME_PRELOAD_PYTHON_PYSTACKS_H

/* Stacks have them from now on. */
void pystacks_begin(void);

#endif
