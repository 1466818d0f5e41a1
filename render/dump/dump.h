/*
 * dump.h: the content of a trace, record by record, as it is in the file: for people who want to
 * know why a picture shows what it shows, and for programs that read traces.
 */
#ifndef FLAME_RENDER_DUMP_DUMP_H
#define FLAME_RENDER_DUMP_DUMP_H

#include "common/trace/trace_reader.h"
#include "render/dump/recordtext.h"

#define DUMP_SECTIONS                                                                              \
    "header module origin inherited thread node row mark misuse resident histogram moment name "   \
    "interval life region"

/* Writes the sections of a trace whose bits (by their order in DUMP_SECTIONS) are set. */
void dump_trace(const struct trace *t, unsigned sections, struct recordtext *w);

#endif
