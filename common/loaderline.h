/*
 * loaderline.h: a program that is run by naming the dynamic loader first (ld.so PROGRAM).
 *
 * To the kernel the process is the loader, by its file and by its name. Pure; any thread; no
 * malloc.
 */
#ifndef FLAME_COMMON_LOADERLINE_H
#define FLAME_COMMON_LOADERLINE_H

#include <stdbool.h>

#include "common/compiler.h"

/* Whether a file, or a process, of that name is a dynamic loader. */
bool loaderline_is_loader(const char *name);

/*
 * The program that a loader is told to run by text[0..len), its arguments as /proc/PID/cmdline has
 * them: NULL, or a piece of text that ends with a NUL.
 */
const char *loaderline_program(const char *text, size_t len);

#endif
