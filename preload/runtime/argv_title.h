/*
 * argv_title.h: title that a process gives itself ("postgres: checkpointer").
 *
 * A program sets its title by writing over the arguments it was executed with; no call reveals
 * that. So the title is read now and then, when the trace grows, and the last one read is in the
 * trace's header. No malloc, no system call that a sandbox may forbid. Several threads may read it
 * at once; it may then be a mixture of two titles.
 */
#ifndef FLAME_PRELOAD_RUNTIME_ARGV_TITLE_H
#define FLAME_PRELOAD_RUNTIME_ARGV_TITLE_H

#include "common/trace_format.h"

/* Before main: remembers the arguments that the program was executed with. */
void argv_title_begin(void);
/* Copies the title into a trace's header, if one was set. */
void argv_title_look(struct trace_header *h);

#endif
