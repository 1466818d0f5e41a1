/*
 * unsupported.h: messages about processes that could not be recorded in-process (enum
 * shm_refusal).
 */
#ifndef FLAME_INPROC_READER_UNSUPPORTED_H
#define FLAME_INPROC_READER_UNSUPPORTED_H

#include "inproc/reader/shm_server.h"

struct strbuf;

/* Whether the refusals can be true: any program of the run may have written any bytes there. */
bool unsupported_is_sound(const struct shm_server *s, enum shm_refusal why);

/* Appends "process 12 (and 3 others) ...: WHY", without a newline. False: there is none. */
bool unsupported_add_text(struct strbuf *sb, const struct shm_server *s, enum shm_refusal why);

#endif
