/*
 * Hooks that the import slots of the process's modules lead to.
 *
 * Each hook calls the function that the slot led to, with the program's arguments, and returns its
 * result; errno is not touched. When recording is off (before, after, in a forked child) it does
 * nothing else. The code is never unmapped, so a pointer to it that the program has stored stays
 * valid.
 */
#include "inject/agent/agent.h"

#include "preload/shadow/shadow.h"
#include "unwind/local.h"

#define REAL(which, type) ((type)agent_shared.real[which])

static inline bool is_on(void)
{
    return __atomic_load_n(&agent_switch.on, __ATOMIC_ACQUIRE);
}

/* The thread's lane in a hook, or NULL. */
#define ENTER(before)                                                                              \
    (is_on() ? agent_enter((uintptr_t)__builtin_frame_address(0), &(before)) : NULL)

typedef void *one_size(size_t);
typedef void *two_sizes(size_t, size_t);

void *agent_malloc(size_t n)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    void *p = REAL(AGENT_MALLOC, one_size *)(n);

    if (lane) {
        if (p)
            agent_allocated(lane, p, n, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

void agent_free(void *p)
{
    uintptr_t before = 0;
    struct agent_lane *lane = p ? ENTER(before) : NULL;
    struct block known;

    if (lane && agent_takes(p, &known))
        agent_freed(lane, (uintptr_t)p, &known);
    REAL(AGENT_FREE, void (*)(void *))(p);
    if (lane)
        agent_leave(lane, before);
}

void *agent_calloc(size_t n, size_t size)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    void *p = REAL(AGENT_CALLOC, two_sizes *)(n, size);

    if (lane) {
        if (p)
            agent_allocated(lane, p, n * size, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

/* Counts a call that resizes `old`. `known`: the block, or NULL if it is not known. It was removed
 * before the call, because another thread may get the address afterwards. */
static inline void resized(struct agent_lane *lane, void *old, const struct block *known,
                           void *made, uint64_t size, const uintptr_t *caller)
{
    if (known && (made || !size))
        agent_freed(lane, (uintptr_t)old, known);
    else if (known)
        agent_keeps(old, known);
    if (made)
        agent_allocated(lane, made, size, caller);
}

void *agent_realloc(void *old, size_t size)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    struct block known;
    bool known_is = lane && old && agent_takes(old, &known);
    void *p = REAL(AGENT_REALLOC, void *(*)(void *, size_t))(old, size);

    if (lane) {
        resized(lane, old, known_is ? &known : NULL, p, size, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

void *agent_reallocarray(void *old, size_t n, size_t each)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    struct block known;
    bool known_is = lane && old && agent_takes(old, &known);
    void *p = REAL(AGENT_REALLOCARRAY, void *(*)(void *, size_t, size_t))(old, n, each);

    if (lane) {
        resized(lane, old, known_is ? &known : NULL, p, n * each, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

void *agent_memalign(size_t align, size_t n)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    void *p = REAL(AGENT_MEMALIGN, two_sizes *)(align, n);

    if (lane) {
        if (p)
            agent_allocated(lane, p, n, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

void *agent_aligned_alloc(size_t align, size_t n)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    void *p = REAL(AGENT_ALIGNED_ALLOC, two_sizes *)(align, n);

    if (lane) {
        if (p)
            agent_allocated(lane, p, n, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

int agent_posix_memalign(void **to, size_t align, size_t n)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    int error = REAL(AGENT_POSIX_MEMALIGN, int (*)(void **, size_t, size_t))(to, align, n);

    if (lane) {
        if (!error && *to)
            agent_allocated(lane, *to, n, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return error;
}

void *agent_valloc(size_t n)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    void *p = REAL(AGENT_VALLOC, one_size *)(n);

    if (lane) {
        if (p)
            agent_allocated(lane, p, n, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}

void *agent_pvalloc(size_t n)
{
    uintptr_t before = 0;
    struct agent_lane *lane = ENTER(before);
    void *p = REAL(AGENT_PVALLOC, one_size *)(n);

    if (lane) {
        if (p)
            agent_allocated(lane, p, n, LOCAL_CALLER());
        agent_leave(lane, before);
    }
    return p;
}
