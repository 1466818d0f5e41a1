/*
 * flamemem.h: calls by which a program marks moments, regions and blocks for the memory recorder.
 * flamemem(3) has examples.
 *
 * Nothing has to be linked: the functions are searched for in libflamemem.so, which `flame mem` and
 * `flame leak` load into the program. Without the library each function costs one branch, does
 * nothing and returns 0. The library exports them under the names below, too, for dlsym(3), ctypes
 * and the like.
 *
 * `flame off` records tags and marks as well, with their times, where it sees calls from inside of
 * the program (libflamewait.so; not with -p or --no-in-process): see flamemem_tag_push.
 *
 * Marks for `flame leak`:
 *
 *     flamemem_leak_begin("parse an empty file");
 *     test_parse_empty();
 *     if (flamemem_leak_end().blocks)
 *         fail("it leaks");
 *
 * A region is the time between the two calls. Blocks of a region are those that were allocated in
 * it, by malloc and its like, and by operator new. It leaves behind the blocks that are live at its
 * end and not reachable. A block is reachable if a variable, a register or a stack of any thread
 * points to it, or a block that is reachable itself. `flame leak` counts and reports the region's
 * blocks, and then exits with 23.
 *
 * Regions of a thread nest: an end belongs to the newest region that the calling thread has begun.
 * A block belongs to the innermost region it is allocated in, and is reported once: if it is still
 * reachable at the end of an inner region, it belongs to the outer one from then on. A reallocated
 * block is a new one. Other threads' blocks belong to other regions, or to none, unless
 * FLAMEMEM_ALL_THREADS says otherwise.
 *
 * A region that is not ended ends with its process. An end without a beginning finds nothing. In a
 * forked child no region is open; the parent's stay open in the parent.
 *
 * Any thread may call these functions, but not a signal handler. The other threads are stopped
 * while memory is scanned. They are not stopped if no block of the region is live. None of their
 * calls fails because of it, but a call that waits with a timeout (epoll_wait, poll, nanosleep)
 * waits the whole time again.
 */
#ifndef FLAME_PRELOAD_FLAMEMEM_H
#define FLAME_PRELOAD_FLAMEMEM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLAMEMEM_MARKS_LEAST 10 /* marks of one name, see flamemem_mark */

/* Flags of flamemem_leak_begin_with. */

/* Blocks that any thread allocates belong to the region, unless they are in a region of the
 * thread's own. */
#define FLAMEMEM_ALL_THREADS 1u
/* All blocks that are live at the end are left behind, reachable or not; no thread is stopped. */
#define FLAMEMEM_STILL_LIVE 2u

/* Blocks that a region left behind. */
struct flamemem_left {
    uint64_t blocks;
    uint64_t bytes;  /* sum of their requested sizes */
    uint64_t looked; /* 1: the memory was scanned. 0: it was not, because the library is absent,
                        does not search for leaks, samples, or ran out of memory */
};

#ifdef FLAMEMEM_LIBRARY
int flamemem_leak_begin(const char *name);
int flamemem_leak_begin_with(const char *name, unsigned flags);
struct flamemem_left flamemem_leak_end(void);
int flamemem_mark(const char *name);
int flamemem_snapshot(const char *name);
int flamemem_pause(void);
int flamemem_resume(void);
int flamemem_tag_push(const char *name);
int flamemem_tag_pop(void);
int flamemem_pool_create(const void *pool);
int flamemem_pool_destroy(const void *pool);
int flamemem_pool_add(const void *pool, const void *memory, size_t size);
int flamemem_pool_alloc(const void *pool, const void *p, size_t size);
int flamemem_pool_free(const void *pool, const void *p);
int flamemem_pool_realloc(const void *pool, const void *old, const void *p, size_t size);
#else

/*
 * The address of a function that need not be there, or 0. Where code is compiled for a fixed
 * address, a linker binds an unknown weak symbol to 0 for ever. It does not if the symbol is used
 * only in the table of addresses that the loader fills.
 */
#if defined(__x86_64__)
#define FLAMEMEM_FIND(function, name)                                                              \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(function))
#elif defined(__aarch64__)
#define FLAMEMEM_FIND(function, name)                                                              \
    __asm__(".weak " name "\n\tadrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]"         \
            : "=r"(function))
#else
#define FLAMEMEM_FIND(function, name) (function = 0) /* the library is absent */
#endif

/*
 * Begins a region. `name` is copied, up to 255 bytes of it, which may have any values; NULL and ""
 * are "unnamed". Returns 1 if its end will search for leaks, and 0 if not: see `looked` above. In
 * either case the region must be ended.
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

/*
 * Marks the end of a pass: work that a test or a server repeats, and that frees all memory that it
 * does not keep. `flame leak --growth` compares the live blocks at the marks of one name (copied,
 * up to 255 bytes; NULL and "" are "unnamed"). It exits with 23 when they grow by the same amount
 * from pass to pass, though they are reachable. That takes FLAMEMEM_MARKS_LEAST marks or more, of
 * which the first quarter is warm-up.
 *
 * docs/leaks.md says what counts as growth. A mark costs a visit of each stack that has allocated,
 * and stops no thread. The longer a run, the smaller the part of its marks that is kept. 64 names
 * are distinguished. Any thread may call it, but not a signal handler. Returns 1, or 0 if nothing
 * is recorded or there is no room.
 */
static __inline__ __attribute__((always_inline, unused)) int flamemem_mark(const char *name)
{
    int (*found)(const char *);

    FLAMEMEM_FIND(found, "flamemem_pass_mark");
    return found ? found(name) : 0;
}

/*
 * Copies the present trace into a file of its own, which every command of flame reads. The copy is
 * TRACE.snapshot-N-NAME.flame, beside the trace or in the directory that `flame mem --snapshots`
 * names. Up to 64 bytes of `name`, which may be NULL, are in the file's name; all but letters,
 * digits, '-' and '_' become '_'.
 *
 * Other threads run on: what they do during the copy may be in it or not. It costs a copy of the
 * trace. Returns 1, or 0 if no copy was made; the summary of `flame mem` counts the failures.
 *
 * Any thread may call this and the functions below, but not a signal handler.
 */
static __inline__ __attribute__((always_inline, unused)) int flamemem_snapshot(const char *name)
{
    int (*found)(const char *);

    FLAMEMEM_FIND(found, "flamemem_ask_snapshot");
    return found ? found(name) : 0;
}

/*
 * Stops recording the calling thread's allocations and mappings, until flamemem_resume is called as
 * often. The summary reports how much was not counted. A block from before the pause counts as
 * freed when it is freed during the pause. A block from the pause may be freed and resized
 * anywhere; it is recorded if it is resized outside of a pause. `flame leak` does not judge such a
 * block; blocks that its pointers lead to are reachable.
 *
 * In a forked child the thread is paused as its parent's was. flamemem_pause returns 1.
 * flamemem_resume returns 1, or 0 if the thread was not paused.
 */
static __inline__ __attribute__((always_inline, unused)) int flamemem_pause(void)
{
    int (*found)(void);

    FLAMEMEM_FIND(found, "flamemem_ask_pause");
    return found ? found() : 0;
}

static __inline__ __attribute__((always_inline, unused)) int flamemem_resume(void)
{
    int (*found)(void);

    FLAMEMEM_FIND(found, "flamemem_ask_resume");
    return found ? found() : 0;
}

/*
 * Adds the frame "[tag: NAME]" to the bottom of the calling thread's stacks, for all it allocates
 * until flamemem_tag_pop. Tags nest, up to 32; the newest is the innermost. `name` is copied, up to
 * 255 bytes of it, which may have any values; NULL and "" are "unnamed". Each name makes stacks of
 * its own, so the trace grows with the number of names: tag requests by kind and not by id. A block
 * that is freed counts as freed where it was allocated, under any tag.
 *
 * Under `flame off` a tag is a region of the thread, from push to pop, whose times are in the trace
 * (flame off --region). A call costs some 300 ns. In a recording of `flame off` a forked child's
 * thread begins without regions; a region that is open when its thread ends, ends with it. A mark
 * ends a region that the previous mark of that name on this thread began.
 *
 * A forked child's thread has the tags that its parent's had. flamemem_tag_push returns 1, or 0 if
 * there is no room; allocations then count as before. In either case the tag must be popped.
 * flamemem_tag_pop returns 1, or 0 if there is no tag.
 */
static __inline__ __attribute__((always_inline, unused)) int flamemem_tag_push(const char *name)
{
    int (*found)(const char *);

    FLAMEMEM_FIND(found, "flamemem_ask_tag_push");
    return found ? found(name) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int flamemem_tag_pop(void)
{
    int (*found)(void);

    FLAMEMEM_FIND(found, "flamemem_ask_tag_pop");
    return found ? found() : 0;
}

/*
 * Allocators of the program's own: pools, arenas, slabs. `pool` is any address, which names it.
 *
 *     arena->memory = malloc(size);               free(arena->memory) ends the blocks in it
 *     flamemem_pool_create(arena);
 *     flamemem_pool_add(arena, arena->memory, size);
 *     flamemem_pool_alloc(arena, p, n);           when p[0..n) is handed out
 *     flamemem_pool_free(arena, p);
 *     flamemem_pool_destroy(arena);               all its blocks are freed
 *
 * A block of a pool counts in the stack that flamemem_pool_alloc is called in. flamemem_pool_add
 * registers the memory that the pool hands out of. That may be a block of malloc's, or a part of
 * one. Only its bytes that are not handed out count in its own stack, so no byte counts twice.
 * Mapped or static memory counts for no view of blocks, and need not be registered. A block that
 * comes from malloc and is only passed on counts once, as malloc's.
 *
 * flamemem_pool_realloc: the block `old` (NULL: none) has become the block `p` of `size` bytes,
 * perhaps at the same address. flamemem_pool_create ends an older pool of the same name. A block
 * that is handed out at the address of one that was not freed is a new block. A block that does not
 * fit into the rest of the memory that it begins in is refused.
 *
 * `flame leak` reports a pool's block as leaked if the block of malloc's that it lies in is leaked:
 * no pointer leads to any part of it. Other blocks of pools are not judged. If blocks are sampled
 * (flame mem --sample), pools are not recorded, but the memory that backs them is.
 *
 * Any thread may call these functions for any pool, but not a signal handler; they hold one lock.
 * Each returns 1, or 0: there is no such pool or block, there is no room, the block was refused, or
 * nothing is recorded.
 */
static __inline__ __attribute__((always_inline, unused)) int flamemem_pool_create(const void *pool)
{
    int (*found)(const void *);

    FLAMEMEM_FIND(found, "flamemem_ask_pool_create");
    return found ? found(pool) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int flamemem_pool_destroy(const void *pool)
{
    int (*found)(const void *);

    FLAMEMEM_FIND(found, "flamemem_ask_pool_destroy");
    return found ? found(pool) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int
flamemem_pool_add(const void *pool, const void *memory, size_t size)
{
    int (*found)(const void *, const void *, size_t);

    FLAMEMEM_FIND(found, "flamemem_ask_pool_add");
    return found ? found(pool, memory, size) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int
flamemem_pool_alloc(const void *pool, const void *p, size_t size)
{
    int (*found)(const void *, const void *, size_t);

    FLAMEMEM_FIND(found, "flamemem_ask_pool_alloc");
    return found ? found(pool, p, size) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int flamemem_pool_free(const void *pool,
                                                                                const void *p)
{
    int (*found)(const void *, const void *);

    FLAMEMEM_FIND(found, "flamemem_ask_pool_free");
    return found ? found(pool, p) : 0;
}

static __inline__ __attribute__((always_inline, unused)) int
flamemem_pool_realloc(const void *pool, const void *old, const void *p, size_t size)
{
    int (*found)(const void *, const void *, const void *, size_t);

    FLAMEMEM_FIND(found, "flamemem_ask_pool_realloc");
    return found ? found(pool, old, p, size) : 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
