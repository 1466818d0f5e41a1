/*
 * sigreturn_frame_impl.h: shared by sigreturn_frame.c and the processor's file. Internal to them.
 */
#ifndef FLAME_INJECT_SIGRETURN_FRAME_IMPL_H
#define FLAME_INJECT_SIGRETURN_FRAME_IMPL_H

#include "inject/sigreturn_frame.h"

/* Instructions that are searched in a process's code. */
struct sigreturn_frame_bytes {
    uint8_t call_ret[8];  /* a system call instruction, and a return */
    uint8_t sigreturn[9]; /* a call of rt_sigreturn */
    uint8_t call_size, call_ret_size, sigreturn_size;
    uint8_t align; /* of instructions */
};
extern const struct sigreturn_frame_bytes sigreturn_frame_bytes;

/* Keeps the `size` bytes at `at` of the thread's memory in w->was. False: they cannot be read. */
bool sigreturn_frame_save(struct sigreturn_frame *w, uintptr_t at, size_t size);
/* Writes w->size bytes there. False: not all were written. */
bool sigreturn_frame_write(const struct sigreturn_frame *w, const void *bytes);
/* After a failure: forgets the bytes that are kept. */
void sigreturn_frame_drop(struct sigreturn_frame *w);

#endif
