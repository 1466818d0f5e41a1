/*
 * programlook.h: what a recording of one program would show, from its file alone: nothing is run.
 */
#ifndef FLAME_DRIVER_DOCTOR_PROGRAMLOOK_H
#define FLAME_DRIVER_DOCTOR_PROGRAMLOOK_H

#include <stdbool.h>

/* A line for each of the things that matter for `command`, found as execvp would. 0: it can be
 * recorded, FLAME_FAILED: it cannot, or FLAME_USAGE after a line on standard error. */
int program_examine(const char *command);

/* What the file has of names, lines and build-id, and what would help. `subject` is the line's. */
void program_examine_names(const char *subject, const char *path);

/* The same of the C library that this process uses. */
void program_examine_libc(void);

#endif
