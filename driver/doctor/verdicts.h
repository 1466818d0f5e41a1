/*
 * verdicts.h: the results of flame doctor, a line each.
 *
 *     yes   memory          recorded a program with libflamemem.so
 *     no    attach          process 71 may not be traced: ...
 *           costs you       no flame off -p
 *           change it by    sudo sysctl kernel.yama.ptrace_scope=0
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

/* Prints a line. `format` has the result and the remedy, if there is one. */
__attribute__((format(printf, 3, 4))) void verdict_print(enum verdict v, const char *subject,
                                                         const char *format, ...);

/* Prints, below a result that is not VERDICT_YES, what the user lacks for it and the command that
 * changes it. NULL: that line is left out. */
void verdict_cost(const char *cost, const char *command);

#endif
