/*
 * opened.h: the program's side of files.h: what becomes of descriptors that were opened by calls
 * that are noted.
 *
 * `process`: the number of the calling process. No libc; safe in signal handlers. What asks the
 * kernel is made by common/kernel.h, so whoever may not call that does not call this. Nothing here
 * is for a child of vfork, which has other descriptors than its memory says.
 */
#ifndef FLAME_INSIDE_WAIT_OPENED_H
#define FLAME_INSIDE_WAIT_OPENED_H

#include "inside/files.h"
#include "inside/session.h"

/* For the start. */
void opened_init(const struct session_view *session);

/* An open that is about to be made. */
struct opening {
    struct files *table; /* NULL: nothing will be known of it */
    uint32_t closes;
};

struct opening opened_begin(uint32_t process);
/* It has given `fd`. */
void opened_end(const struct opening *o, unsigned fd);

/*
 * A call on the descriptor begins: if it is of a plain file, where that is kept, else NULL.
 * opened_left: the call is over.
 */
uint16_t *opened_use(uint32_t process, unsigned fd);
void opened_left(uint16_t *used, bool slept);

/* The program has asked for itself what the descriptor is, and this is the answer's st_mode. */
void opened_seen(uint32_t process, unsigned fd, unsigned mode);

/* Whether the close that is about to be made needs nobody's attention. What was known of the
 * descriptor is forgotten either way. */
bool opened_close(uint32_t process, unsigned fd);

/* Whether opened_close may say so: a look that costs nothing. */
bool opened_is(uint32_t process, unsigned fd);

/* What the descriptor is will be asked for later: its close needs attention. */
void opened_forget(uint32_t process, unsigned fd);

/* The process's descriptors may change unseen from now on. */
void opened_distrust(uint32_t process);

#endif
