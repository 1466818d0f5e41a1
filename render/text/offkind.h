/*
 * offkind.h: names of the kinds of rows of a trace of waiting. Pure, thread-safe.
 */
#ifndef FLAME_RENDER_TEXT_OFFKIND_H
#define FLAME_RENDER_TEXT_OFFKIND_H

#include <stdint.h>

/* "lock", "file" and so on, a string constant; NULL: no such enum trace_off_kind. */
const char *offkind_name(uint32_t kind);

#endif
