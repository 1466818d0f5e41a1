/*
 * early_environ.h: the environment that the process was started with, available at any time.
 *
 * The C library knows its environment only from its own constructor on. A sanitizer's run time
 * allocates before that (.preinit_array), and so the recorder starts before that, too.
 *
 * No malloc, no lock.
 */
#ifndef FLAME_PRELOAD_RUNTIME_EARLY_ENVIRON_H
#define FLAME_PRELOAD_RUNTIME_EARLY_ENVIRON_H

/* The value of `name`, or NULL. It is valid until the program changes it. */
const char *early_getenv(const char *name);

#endif
