/*
 * baseline_json.h: a baseline from leak.json, see docs/leaks.md.
 */
#ifndef FLAME_DRIVER_SUPPRESS_BASELINE_JSON_H
#define FLAME_DRIVER_SUPPRESS_BASELINE_JSON_H

#include "driver/suppress/baseline.h"

/* Adds the leaks of the view. False when it is no such file: *line is the line of the JSON error,
 * or 0. Leaks read before it have been added. */
bool baseline_add_json(struct baseline *b, const char *view, const char *text, size_t len,
                       size_t *line);

#endif
