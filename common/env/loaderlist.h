/*
 * loaderlist.h: the dynamic loader's list of what is loaded, in either C library.
 *
 * Debuggers read the same list, so both libraries have it: glibc as _r_debug, musl behind a pointer
 * that is set when the loader has relocated the program. In musl the loader and the C library are
 * one file, no library is ever unloaded, and the entries behind the public part of a link_map
 * differ.
 *
 * Source: <link.h> of both, and the dynamic linker of musl 1.2 for which symbol it exports.
 */
#ifndef FLAME_COMMON_ENV_LOADERLIST_H
#define FLAME_COMMON_ENV_LOADERLIST_H

#include <link.h>
#include <stdbool.h>

#ifdef __GLIBC__
#define LOADER_IS_LIBC false
#else
#define LOADER_IS_LIBC true
extern struct r_debug *_dl_debug_addr;
#endif

/* Borrowed; the loader changes it when libraries are loaded. r_version 0: the loader has not begun.
 * Safe to call at any time, in signal handlers as well. */
static inline const struct r_debug *loaderlist(void)
{
#ifdef __GLIBC__
    return &_r_debug;
#else
    return _dl_debug_addr;
#endif
}

#endif
