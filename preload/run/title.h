/*
 * title.h: what a process calls itself ("postgres: checkpointer").
 *
 * A program sets its title by writing over the arguments it was executed with; no call tells of
 * that. So it is looked at now and then, when the trace grows, and the last one seen is in the
 * trace's header. No malloc, no system call that a sandbox may forbid; several threads may look
 * at once, and the title may then be of two moments.
 */
#ifndef FLAME_PRELOAD_RUN_TITLE_H
#define FLAME_PRELOAD_RUN_TITLE_H

#include "common/trace_format.h"

/* Before main: remembers what the program was executed as. */
void title_begin(void);
/* Takes the title over into a trace's header, if one was set. */
void title_look(struct trace_header *h);

#endif
