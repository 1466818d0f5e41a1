/*
 * unsupported.h: messages about processes that could not be recorded in-process (enum
 * session_refusal).
 */
#ifndef FLAME_INPROC_READER_UNSUPPORTED_H
#define FLAME_INPROC_READER_UNSUPPORTED_H

#include "inproc/reader/shm_server.h"

struct strbuf;

/* Whether the refusals can be true: any program of the run may have written there. */
bool refusal_is_sound(const struct session *s, enum session_refusal why);

/* Appends "process 12 (and 3 others) ...: WHY", without a newline. False: there is none. */
bool refusal_add_text(struct strbuf *sb, const struct session *s, enum session_refusal why);

#endif
