/*
 * lazyload.h: the libraries that flame needs for some of its work only, loaded when that is done.
 *
 * Loading a dozen libraries is most of what starting flame costs, and a test suite under `flame
 * leak` starts it for each of its processes, most of which need none of them. So the build makes
 * a function of its own for each that flame calls in one of these libraries (lazyload.c); the first
 * call of any of a library's loads it. The callers know nothing of it.
 */
#ifndef FLAME_COMMON_LAZYLOAD_LAZYLOAD_H
#define FLAME_COMMON_LAZYLOAD_LAZYLOAD_H

#include <stddef.h>

/*
 * Loads the library of lazyload.c's function `index` and finds all its functions, once; what they
 * are called through is filled in. Any thread may call it, no signal handler may. Ends the
 * process with FLAME_FAILED after a line where the library is not there or lacks a function.
 */
void late_bind(size_t index);

#endif
