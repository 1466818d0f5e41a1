/*
 * chromewaits.h: threads' waits in time order, as members of Chrome's trace events in JSON.
 */
#ifndef FLAME_RENDER_EXPORT_CHROMEWAITS_H
#define FLAME_RENDER_EXPORT_CHROMEWAITS_H

#include "render/export/waitlist.h"
#include "render/text/outstream.h"

/* Writes the members "stackFrames" and "traceEvents", without what is around them. */
void chromewaits_write(struct outstream *out, const struct waitlist *w);

#endif
