/*
 * eventtext.h: an event as a line for people.
 */
#ifndef FLAME_TRACER_OFFCPU_EVENTTEXT_H
#define FLAME_TRACER_OFFCPU_EVENTTEXT_H

#include "common/strbuf.h"
#include "tracer/offcpu/event.h"

/* Appends "SECONDS PID/TID KIND CALL(ARGS) = RESULT ...", without a newline. Only entries have
 * arguments. */
void event_add_text(struct strbuf *sb, const struct off_event *e);

#endif
