/* Facts of pyhost.h that recorders with a C library have in common. The agent is without one. */
#define _GNU_SOURCE
#include <pthread.h>

#include "common/kernel.h"
#include "unwind/python/pyhost.h"

/* Weak, because before glibc 2.34 it is in a library of its own, which an interpreter with
 * threads has loaded and other programs need not have. */
#pragma weak pthread_getspecific

bool pyhost_readable(uintptr_t page)
{
    return kernel_readable(page, 1);
}

uintptr_t pyhost_thread(void)
{
    return (uintptr_t)pthread_self();
}

uintptr_t pyhost_state(const struct python *py, struct pypages *pages)
{
    pthread_key_t key;

    if (py->state)
        return (uintptr_t)py->state();
    if (!pthread_getspecific || !pyframes_key(py, pages, &key))
        return 0;
    return (uintptr_t)pthread_getspecific(key);
}
