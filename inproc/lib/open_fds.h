/*
 * open_fds.h: the program's side of plain_fds.h: the state of descriptors that were opened by calls
 * that are logged.
 *
 * `process`: the number of the calling process. No libc; safe in signal handlers. Functions that
 * query the kernel do it by common/kernel.h, so code that must not use that must not call them. No
 * function here may be called in a child of vfork, whose descriptors differ from those in its
 * memory.
 */
#ifndef FLAME_INPROC_LIB_OPEN_FDS_H
#define FLAME_INPROC_LIB_OPEN_FDS_H

#include "inproc/plain_fds.h"
#include "inproc/shm.h"

/* For the start. */
void open_fds_init(const struct shm_view *session);

/* An open that is about to be made. */
struct open_fds_opening {
    struct plain_fds *table; /* NULL: its descriptor will not be tracked */
    uint32_t closes;
};

struct open_fds_opening open_fds_begin(uint32_t process);
/* The open has returned `fd`. */
void open_fds_end(const struct open_fds_opening *o, unsigned fd);

/* Begins a call on the descriptor: returns the place of its state if it is of a plain file, else
 * NULL. open_fds_left: the call is over. */
uint16_t *open_fds_use(uint32_t process, unsigned fd);
void open_fds_left(uint16_t *used, bool slept);

/* The program has queried the descriptor itself, with this st_mode as the answer. */
void open_fds_seen(uint32_t process, unsigned fd, unsigned mode);

/* Whether the close that will be made next need not stop for the tracer. The state of the
 * descriptor is dropped in either case. */
bool open_fds_close(uint32_t process, unsigned fd);

/* Whether open_fds_close may return true: a cheap check. */
bool open_fds_is(uint32_t process, unsigned fd);

/* Drops the state of the descriptor, as the tracer will query its object later: its close must
 * stop. */
void open_fds_forget(uint32_t process, unsigned fd);

/* From now on the process's descriptors may change unseen. */
void open_fds_distrust(uint32_t process);

#endif
