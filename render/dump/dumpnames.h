/* dumpnames.h: the names of addresses that a trace carries, as records. */
#ifndef FLAME_RENDER_DUMP_DUMPNAMES_H
#define FLAME_RENDER_DUMP_DUMPNAMES_H

#include "common/trace/namepack.h"
#include "render/dump/recordtext.h"

/* A record a frame, and one for each lock and each piece of code that was made at run time. NULL:
 * none. */
void dump_names(const struct namepack *names, struct recordtext *w);

#endif
