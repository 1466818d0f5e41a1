/*
 * flamemem.h: what a program tells the memory recorder of itself. flamemem(3) has examples.
 *
 * Nothing has to be linked: the functions are looked for in libflamemem.so, with which
 * `flame mem` and `flame leak` start the program. Without it each costs one branch, does nothing
 * and returns 0. They have the names below there, for dlsym(3), ctypes and the like.
 *
 * Tags and marks are recorded by `flame off` as well, with their times, where it sees calls from
 * inside of the program (libflamewait.so; not with -p or --no-in-process): see flamemem_tag_push.
 *
 * Marks for `flame leak`:
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

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FLAMEMEM_MARKS_LEAST 10 /* marks of one name, see flamemem_mark */

/* Flags of flamemem_leak_begin_with. */

/* Blocks that any thread allocates, unless it is in a region of its own, belong to the region. */
#define FLAMEMEM_ALL_THREADS 1u
/* All that is live at the end is left behind, whatever leads to it; no thread is stopped. */
#define FLAMEMEM_STILL_LIVE 2u

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
 * address, a linker takes a weak symbol that it does not know for 0 for ever, unless it is only
 * met in the table of addresses that the loader fills.
 */
#if defined(__x86_64__)
#define FLAMEMEM_FIND(function, name)                                                              \
    __asm__(".weak " name "\n\tmovq " name "@GOTPCREL(%%rip), %0" : "=r"(function))
#elif defined(__aarch64__)
#define FLAMEMEM_FIND(function, name)                                                              \
    __asm__(".weak " name "\n\tadrp %0, :got:" name "\n\tldr %0, [%0, :got_lo12:" name "]"         \
            : "=r"(function))
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

/*
 * Marks the end of a pass: what a test or a server does again and again, with everything
 * freed that a pass does not keep. `flame leak --growth` compares what is live at the marks of
 * one name (copied, up to 255 bytes; NULL and "" are "unnamed"), and exits with 23 when it
 * grows by the same amount from pass to pass, though something still leads to it. That takes
 * FLAMEMEM_MARKS_LEAST marks or more, of which the first quarter is warm-up.
 *
 * docs/leaks.md says what counts as growth. A mark costs a look at each stack that has
 * allocated, and stops nobody; of the many in a long run ever fewer are kept. 64 names are told
 * apart. Any thread may call it, but not a signal handler. Returns 1, or 0 when nobody records
 * or there is no room.
 */
static __inline__ __attribute__((always_inline, unused)) int flamemem_mark(const char *name)
{
    int (*found)(const char *);

    FLAMEMEM_FIND(found, "flamemem_pass_mark");
    return found ? found(name) : 0;
}

/*
 * Copies the trace as it is now into a file of its own, which every command of flame reads:
 * beside the trace, or in the directory that `flame mem --snapshots` names, as
 * TRACE.snapshot-N-NAME.flame. Of `name`, which may be NULL, 64 bytes are in the file's name;
 * all but letters, digits, '-' and '_' become '_'.
 *
 * Other threads go on: what they do while the file is copied is in it or not. It costs a copy of
 * the trace. Returns 1, or 0 where there is no copy; the summary of `flame mem` counts those.
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
 * What the calling thread allocates and maps from now on is left out, until as many calls of
 * flamemem_resume. The summary says how much that was. What was recorded before counts as freed
 * when it is freed, here too; a block that was left out may be freed and resized anywhere, and is
 * recorded where it is resized while the recording is not paused. `flame leak` does not judge
 * such a block, and what its pointers lead to is reached.
 *
 * In a forked child the thread is paused as its parent's was. Returns 1; flamemem_resume 0 where
 * nothing was paused.
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
 * What the calling thread allocates from now on has the frame "[tag: NAME]" at the bottom of its
 * stacks, until flamemem_tag_pop. Tags nest, up to 32; the newest is the innermost. `name` is
 * copied, up to 255 bytes of it, which may be any; NULL and "" are "unnamed". Each name makes
 * stacks of its own, so the trace grows with their number: tag by kinds of requests and not by
 * their ids. A block that is freed counts as freed where it was allocated, under any tag.
 *
 * Under `flame off` a tag is a region of the thread, from push to pop, of which the trace has the
 * times (flame off --region); some 300 ns each. A forked child's thread begins with none there;
 * what is open when a thread ends, ends with it. A mark ends a region that the mark of that name
 * before it on this thread began.
 *
 * A forked child's thread has the tags that its parent's had. Returns 1; flamemem_tag_push 0 where
 * there is no room and what is allocated counts as before (a pop belongs to it in either case),
 * and flamemem_tag_pop 0 where there is no tag.
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
 *     arena->memory = malloc(size);               free(arena->memory) ends what lies in it
 *     flamemem_pool_create(arena);
 *     flamemem_pool_add(arena, arena->memory, size);
 *     flamemem_pool_alloc(arena, p, n);           when p[0..n) is handed out
 *     flamemem_pool_free(arena, p);
 *     flamemem_pool_destroy(arena);               all its blocks are freed
 *
 * A block of a pool counts in the stack that flamemem_pool_alloc is called in. Memory that the
 * pool hands out of is told by flamemem_pool_add: a block of malloc's, or a part of one, counts for
 * what is not handed out of it, so that no byte counts twice. Mapped or static memory counts for no
 * view of blocks, and need not be told. A block that was got from malloc and is only passed on
 * counts once, as malloc's.
 *
 * flamemem_pool_realloc: `old` (NULL: none) has become `p` of `size` bytes, at the same place
 * perhaps. flamemem_pool_create ends an older pool of the same name. What is handed out again at
 * the place of a block that was not freed is a new block; what does not fit into what is left of
 * the memory that it begins in is refused. `flame leak` finds a block leaked where
 * nothing leads to any part of the malloc's block that it lies in, as it finds that one; other
 * blocks of pools are not judged. Where blocks are sampled (flame mem --sample) pools are
 * not recorded, but what they hand out of is.
 *
 * Any thread may call these for any pool, but not a signal handler; one lock is held meanwhile.
 * Each returns 1, or 0: there is no such pool or block, no room, it was refused, or nobody records.
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
