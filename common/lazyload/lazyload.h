/*
 * lazyload.h: libraries that flame needs for some of its work only, loaded at first use.
 *
 * Loading a dozen libraries is most of the cost of starting flame. A test suite under `flame leak`
 * starts it for each of its processes, most of which need none of them. So the build makes a
 * function of its own for each function that flame calls in one of these libraries (lazyload.c);
 * the first call of any of them loads the library. The callers do not notice.
 */
#ifndef FLAME_COMMON_LAZYLOAD_LAZYLOAD_H
#define FLAME_COMMON_LAZYLOAD_LAZYLOAD_H

#include <stddef.h>

/*
 * Loads the library of lazyload.c's function `index` and finds all its functions, once; fills in
 * the pointers that they are called through. Any thread may call it, no signal handler may. Ends
 * the process with late_missing_status after a line if the library or a function in it is missing.
 */
void late_bind(size_t index);

/* FLAME_FAILED, unless a child has set another one by which its parent knows the reason. */
extern int late_missing_status;

/*
 * Loads the libraries whose names begin with an element of `names`, which ends with NULL, as far as
 * they are loaded late. For processes that must not end later. FLAME_OK, or FLAME_FAILED after a
 * line that names what is missing. Absent where all libraries are linked in the usual way (unit
 * tests).
 */
int late_load(const char *const *names) __attribute__((weak));

#endif
