/*
 * deepbound.h: detects libraries that find the C library before the recorder (RTLD_DEEPBIND). Their
 * allocations and frees bypass the recorder, and their blocks may be passed to the program, and the
 * program's to them.
 */
#ifndef FLAME_PRELOAD_MISUSE_DEEPBOUND_H
#define FLAME_PRELOAD_MISUSE_DEEPBOUND_H

#include <stdbool.h>

/*
 * Whether there is such a library, or was one at an earlier call. So it must be called before each
 * dlclose. Walks the loader's list under its lock. No malloc.
 */
bool deepbound_any(void);

#endif
