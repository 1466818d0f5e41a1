/*
 * process_vm_readv copies straight to its target. /proc/PID/mem goes through a page of the
 * kernel's, and takes twice as long; but it also reads memory that the process itself may not read,
 * and works under filters that know no process_vm_readv.
 */
#define _GNU_SOURCE
#include "inject/memory/remote_copy.h"

#include <sys/uio.h>

#define PAGE ((uintptr_t)4096)
#define PIECE ((size_t)1 << 20)

struct copying {
    struct held_memory *to;
    const struct procmem *from;
    uintptr_t at; /* up to here memory has been added */
    bool zeros;
};

/* Reads bytes at `at`, a multiple of a page, and returns their number. 0: the page cannot be
 * read. */
static size_t read_some(const struct procmem *m, uintptr_t at, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)at, size};
    ssize_t n = m->bytes ? -1 : process_vm_readv(m->pid, &local, 1, &remote, 1, 0);

    if (n > 0)
        return (size_t)n & -PAGE;
    for (size = size < PIECE ? size : PIECE; size; size = size > PAGE ? size / 2 & -PAGE : 0)
        if (procmem_read(m, at, to, size))
            return size;
    return 0;
}

static void copy_run(void *arg, uintptr_t lo, uintptr_t hi)
{
    struct copying *c = arg;
    uint8_t *space = held_memory_space(c->to, hi - lo);

    if (c->zeros)
        held_memory_add_zeros(c->to, c->at, lo - c->at);
    c->at = hi;
    while (space && lo < hi) {
        size_t n = read_some(c->from, lo, space, hi - lo);

        held_memory_add(c->to, lo, n);
        space += n;
        lo += n ? n : PAGE;
    }
}

void remote_copy(struct held_memory *to, struct remote_pages *from, uintptr_t lo, uintptr_t hi,
                 bool zeros)
{
    struct copying c = {.to = to, .from = from->mem, .at = lo, .zeros = zeros};

    remote_pages_runs(from, lo, hi, copy_run, &c);
    if (zeros && c.at < hi)
        held_memory_add_zeros(to, c.at, hi - c.at);
}
