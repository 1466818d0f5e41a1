/*
 * CPython's small objects by stack: they come from its own allocator, which does not call malloc
 * for each. The hooks of PyMem_SetAllocator report each of them as a block of a pool.
 *
 *     cc -g -shared -fPIC -I PREFIX/include -o pymem.so pymem.c
 *     flame mem --view live -o x.svg -- python3 -c '
 *     import ctypes; ctypes.PyDLL("./pymem.so").pymem_start()
 *     kept = [str(i) * 3 for i in range(10000)]'
 *
 * Objects that were allocated before are not known. PYTHONMALLOC=malloc does the same for all of
 * them with no library, and has the program use another allocator. The structure is that of "Memory
 * Management" in Python's C API, so its headers are not needed.
 */
#include <stddef.h>

#include "flamemem.h"

struct allocator {
    void *ctx;
    void *(*malloc)(void *ctx, size_t size);
    void *(*calloc)(void *ctx, size_t n, size_t size);
    void *(*realloc)(void *ctx, void *p, size_t size);
    void (*free)(void *ctx, void *p);
};

enum { DOMAIN_MEM = 1, DOMAIN_OBJ = 2 };
void PyMem_GetAllocator(int domain, struct allocator *a);
void PyMem_SetAllocator(int domain, struct allocator *a);

static struct allocator beneath[3];

static void *hook_malloc(void *ctx, size_t size)
{
    const struct allocator *a = ctx;
    void *p = a->malloc(a->ctx, size);

    if (p)
        flamemem_pool_alloc(beneath, p, size);
    return p;
}

static void *hook_calloc(void *ctx, size_t n, size_t size)
{
    const struct allocator *a = ctx;
    void *p = a->calloc(a->ctx, n, size);

    if (p)
        flamemem_pool_alloc(beneath, p, n * size);
    return p;
}

/* The old block is gone the moment that the one beneath has returned, when another thread may have
 * it. Python's lock is held in these two domains. */
static void *hook_realloc(void *ctx, void *old, size_t size)
{
    const struct allocator *a = ctx;
    void *p = a->realloc(a->ctx, old, size);

    if (p)
        flamemem_pool_realloc(beneath, old, p, size);
    return p;
}

static void hook_free(void *ctx, void *p)
{
    const struct allocator *a = ctx;

    flamemem_pool_free(beneath, p);
    a->free(a->ctx, p);
}

void pymem_start(void)
{
    flamemem_pool_create(beneath);
    for (int domain = DOMAIN_MEM; domain <= DOMAIN_OBJ; domain++) {
        struct allocator hooks = {&beneath[domain], hook_malloc, hook_calloc, hook_realloc,
                                  hook_free};

        PyMem_GetAllocator(domain, &beneath[domain]);
        PyMem_SetAllocator(domain, &hooks);
    }
}
