/*
 * deepbound.h: whether a library finds the C library before it finds us (RTLD_DEEPBIND): what
 * it allocates and frees comes past the recorder, and may come to the program, and from it.
 */
#ifndef FLAME_PRELOAD_MISUSE_DEEPBOUND_H
#define FLAME_PRELOAD_MISUSE_DEEPBOUND_H

#include <stdbool.h>

/*
 * Whether there is one, or was one at an earlier call: so it is called before each dlclose.
 * Walks the loader's list under its lock. No malloc.
 */
bool deepbound_any(void);

#endif
