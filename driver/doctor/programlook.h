/*
 * programlook.h: forecast of what a recording of one program would show. It reads the program's
 * file and runs nothing.
 */
#ifndef FLAME_DRIVER_DOCTOR_PROGRAMLOOK_H
#define FLAME_DRIVER_DOCTOR_PROGRAMLOOK_H

#include <stdbool.h>

/* Prints a line for each property of `command` that affects a recording, found as execvp would. 0:
 * it can be recorded, FLAME_FAILED: it cannot, or FLAME_USAGE after a line on standard error. */
int program_examine(const char *command);

/* Prints whether the file has names, lines and a build-id, and how to get them. `subject` is the
 * subject of the line. */
void program_examine_names(const char *subject, const char *path);

/* Calls program_examine_names() for the C library that this process uses. */
void program_examine_libc(void);

#endif
