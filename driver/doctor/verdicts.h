/*
 * verdicts.h: what flame doctor has found, a line each.
 *
 *     yes   memory            recorded a program with libflamemem.so
 *     no    attach            process 71 may not be traced: ... set it to 0, ...
 *
 * Not thread-safe.
 */
#ifndef FLAME_DRIVER_DOCTOR_VERDICTS_H
#define FLAME_DRIVER_DOCTOR_VERDICTS_H

#include <stdbool.h>

enum verdict {
    VERDICT_YES,
    VERDICT_PART, /* it works, and less well than it could */
    VERDICT_NO,
};

/* Prints a line; `format` is of what was found and what can be done about it. */
__attribute__((format(printf, 3, 4))) void verdict_print(enum verdict v, const char *subject,
                                                         const char *format, ...);

#endif
