/*
 * open_fds.h: the program's side of plain_fds.h: the state of descriptors that were opened by calls
 * that are logged.
 *
 * `process`: the number of the calling process. No libc; safe in signal handlers. Functions that
 * ask the kernel do it by common/kernel.h, so code that may not call that must not call them.
 * Nothing here is for a child of vfork, which has other descriptors than its memory says.
 */
#ifndef FLAME_INPROC_LIB_OPEN_FDS_H
#define FLAME_INPROC_LIB_OPEN_FDS_H

#include "inproc/plain_fds.h"
#include "inproc/shm.h"

/* For the start. */
void open_fds_init(const struct shm_view *session);

/* An open that is about to be made. */
struct open_fds_opening {
    struct plain_fds *table; /* NULL: nothing will be known of it */
    uint32_t closes;
};

struct open_fds_opening open_fds_begin(uint32_t process);
/* The open has returned `fd`. */
void open_fds_end(const struct open_fds_opening *o, unsigned fd);

/* Begins a call on the descriptor: if it is of a plain file, the place of its state, else NULL.
 * open_fds_left: the call is over. */
uint16_t *open_fds_use(uint32_t process, unsigned fd);
void open_fds_left(uint16_t *used, bool slept);

/* The program has asked for itself what the descriptor is, and this is the answer's st_mode. */
void open_fds_seen(uint32_t process, unsigned fd, unsigned mode);

/* Whether the close that is about to be made need not stop for the tracer. What was known of the
 * descriptor is forgotten either way. */
bool open_fds_close(uint32_t process, unsigned fd);

/* Whether open_fds_close may say so: a check that costs nothing. */
bool open_fds_is(uint32_t process, unsigned fd);

/* Forgets the descriptor, as the tracer will ask later what it is: its close must stop. */
void open_fds_forget(uint32_t process, unsigned fd);

/* The process's descriptors may change unseen from now on. */
void open_fds_distrust(uint32_t process);

#endif
