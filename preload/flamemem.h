/*
 * flamemem.h: marks that a program sets in itself, for `flame leak`.
 *
 *     flamemem_leak_begin("parse an empty file");
 *     test_parse_empty();
 *     if (flamemem_leak_end().blocks)
 *         fail("it leaks");
 *
 * A region is what lies between the two. What it leaves behind are the blocks that were
 * allocated in it (by malloc and its like, and by operator new), that are live at its end, and
 * that nothing leads to: no variable, register or stack of any thread, and no block that
 * something leads to. It is counted, and told by `flame leak`, which then exits with 23.
 *
 * Nothing has to be linked: the functions are looked for in libflamemem.so, with which
 * `flame leak` starts the program. Without it they cost one branch and find nothing. They
 * have the names flamemem_leak_begin, flamemem_leak_begin_with and flamemem_leak_end there,
 * for dlsym(3), ctypes and the like.
 *
 * Regions of a thread nest: the end is that of the newest one that the calling thread has
 * begun. A block belongs to the innermost region it is allocated in, and is told once: if it
 * is still reached at the end of an inner region, it belongs to the outer one from then on. A
 * reallocated block is a new one. Other threads' blocks belong to other regions, or to none,
 * unless FLAMEMEM_ALL_THREADS says otherwise.
 *
 * A region that is not ended ends with its process. An end without a beginning finds
 * nothing. In a forked child no region is open; its parent's go on.
 *
 * Any thread may call these, but not a signal handler. The other threads are stopped for the
 * look, if there is anything to look at: nothing that was allocated and is live means that
 * nobody is stopped. No call of theirs fails because of it, but one that waits with a timeout
 * (epoll_wait, poll, nanosleep) waits all of it again.
 */
#ifndef FLAME_PRELOAD_FLAMEMEM_H
#define FLAME_PRELOAD_FLAMEMEM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags of flamemem_leak_begin_with. */
#define FLAMEMEM_ALL_THREADS                                                                       \
    1u /* blocks that any thread allocates, unless it is in a region of                            \
          its own, belong to the region */
#define FLAMEMEM_STILL_LIVE                                                                        \
    2u /* all that is live at the end is left behind, whatever leads to                            \
          it; no thread is stopped */

/* What a region left behind. */
struct flamemem_left {
    uint64_t blocks;
    uint64_t bytes;  /* that were asked for */
    uint64_t looked; /* 1: it was looked for. 0: it was not, as the library is not there, was not
                        told to look for leaks, samples, or ran out of memory */
};

#ifdef FLAMEMEM_LIBRARY
int flamemem_leak_begin(const char *name);
int flamemem_leak_begin_with(const char *name, unsigned flags);
struct flamemem_left flamemem_leak_end(void);
#else

/*
 * The address of a function that need not be there, or 0. Where code is compiled for a fixed
 * address, a linker takes a weak symbol that it does not know for 0 for ever, unless it is only
 * met in the table of addresses that the loader fills.
 */
#if defined(__x86_64__)
#define FLAMEMEM_FIND(function, name)                                                              \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(function))
#else
#define FLAMEMEM_FIND(function, name) (function = 0) /* the library is not there */
#endif

/*
 * Begins a region. `name` is copied, up to 255 bytes of it, which may be any; NULL and "" are
 * "unnamed". Returns 1 when its end will look for what it leaves behind, and 0 when not: see
 * `looked` above. An end belongs to it in either case.
 */
static __inline__ __attribute__((always_inline, unused)) int
flamemem_leak_begin_with(const char *name, unsigned flags)
{
    int (*found)(const char *, unsigned);

    FLAMEMEM_FIND(found, "flamemem_begin_mark");
    return found ? found(name, flags) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int flamemem_leak_begin(const char *name)
{
    return flamemem_leak_begin_with(name, 0);
}

/* Ends the newest region that the calling thread has begun. */
static __inline__ __attribute__((always_inline, unused)) struct flamemem_left
flamemem_leak_end(void)
{
    struct flamemem_left none = {0, 0, 0};
    struct flamemem_left (*found)(void);

    FLAMEMEM_FIND(found, "flamemem_end_mark");
    return found ? found() : none;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
