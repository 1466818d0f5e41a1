#define _GNU_SOURCE
#include "preload/next_libc.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "preload/guard.h"
#include "preload/runtime/next_symbol.h"
#include "common/processor/arch.h"

static void end_bare(int status)
{
    for (;;)
        kernel_call(SYS_exit_group, status);
}

static int start_bare(main_function *program FLAME_UNUSED, int argc FLAME_UNUSED,
                      char **argv FLAME_UNUSED, void (*init)(void) FLAME_UNUSED,
                      void (*fini)(void) FLAME_UNUSED, void (*loader_fini)(void) FLAME_UNUSED,
                      void *stack_end FLAME_UNUSED)
{
    end_bare(127);
    return 127;
}

static void *mmap_bare(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
    return (void *)kernel_answer(kernel_call(SYS_mmap, at, size, prot, flags, fd, offset));
}

static void *mremap_bare(void *at, size_t old, size_t size, int flags, void *to)
{
    return (void *)kernel_answer(kernel_call(SYS_mremap, at, old, size, flags, to));
}

static int munmap_bare(void *at, size_t size)
{
    return (int)kernel_answer(kernel_call(SYS_munmap, at, size));
}

/* Fails, because the C library keeps track of the break itself: it would not see a change made by a
 * bare system call. */
static void *sbrk_bare(intptr_t more FLAME_UNUSED)
{
    errno = ENOMEM;
    return (void *)-1;
}

static int brk_bare(void *to FLAME_UNUSED)
{
    errno = ENOMEM;
    return -1;
}

static void *shmat_bare(int id, const void *at, int flags)
{
    return (void *)kernel_answer(kernel_call(SYS_shmat, id, at, flags));
}

static int shmdt_bare(const void *at)
{
    return (int)kernel_answer(kernel_call(SYS_shmdt, at));
}

static struct next_libc next = {
    .exit = end_bare,
    ._exit = end_bare,
    ._Exit = end_bare,
    .quick_exit = end_bare,
    .__libc_start_main = start_bare,
    .mmap = mmap_bare,
    .mremap = mremap_bare,
    .munmap = munmap_bare,
    .sbrk = sbrk_bare,
    .brk = brk_bare,
    .shmat = shmat_bare,
    .shmdt = shmdt_bare,
};

#define FIND(name)                                                                                 \
    do {                                                                                           \
        void *found = next_symbol_find(#name, ARCH_LIBC_BASE);                                     \
                                                                                                   \
        if (found)                                                                                 \
            *(void **)&next.name = found;                                                          \
    } while (0)

static void find_all(void)
{
    uint32_t busy = guard.busy;

    guard.busy = GUARD_STARTING; /* the loader's allocations are not the program's */
    FIND(exit);
    FIND(_exit);
    FIND(_Exit);
    FIND(quick_exit);
    FIND(__libc_start_main);
    FIND(mmap);
    FIND(mremap);
    FIND(munmap);
    FIND(sbrk);
    FIND(brk);
    FIND(shmat);
    FIND(shmdt);
    guard.busy = busy;
}

const struct next_libc *next_libc_calls(void)
{
    static int begun;

    /* A second thread at this moment uses the bare calls. */
    if (unlikely(!__atomic_load_n(&begun, __ATOMIC_ACQUIRE)) && next_symbol_loader_is_done() &&
        !__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
        find_all();
    return &next;
}
