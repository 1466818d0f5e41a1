#define _GNU_SOURCE
#include "inject/memory/procmem.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/procpath.h"
#include "inject/memory/held_memory.h"

int procmem_open(struct procmem *m, pid_t pid)
{
    *m = (struct procmem){.pid = pid};
    m->fd = open(proc_path(pid, "mem").s, O_RDWR | O_CLOEXEC);
    return m->fd < 0 ? -errno : 0;
}

void procmem_close(struct procmem *m)
{
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
}

bool procmem_read(const struct procmem *m, uintptr_t at, void *to, size_t size)
{
    char *p = to;

    if (m->held)
        return held_memory_read(m->held, at, to, size);
    if (m->bytes) {
        if (at < m->base || at - m->base > m->size || m->size - (at - m->base) < size)
            return false;
        memcpy(to, m->bytes + (at - m->base), size);
        return true;
    }
    while (size) {
        ssize_t n = at <= INT64_MAX ? pread(m->fd, p, size, (off_t)at) : -1;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        at += (size_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool procmem_write(const struct procmem *m, uintptr_t at, const void *from, size_t size)
{
    const char *p = from;

    while (size) {
        ssize_t n =
            at <= INT64_MAX && !m->bytes && !m->held ? pwrite(m->fd, p, size, (off_t)at) : -1;

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        at += (size_t)n;
        size -= (size_t)n;
    }
    return true;
}

bool procmem_text(const struct procmem *m, uintptr_t at, char *to, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        if (!procmem_read(m, at + n, to + n, 1))
            return false;
        if (!to[n])
            return true;
    }
    return false;
}
