#define _GNU_SOURCE
#include "preload/kept/graph_out.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/pages.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

/* To exceed the limit would send the program a SIGXFSZ. */
static uint64_t limit(void)
{
    struct rlimit lim;

    return kernel_call(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &lim) < 0 ? 0 : lim.rlim_cur;
}

bool graph_out_begin(struct graph_out *o, const char *path, const char *whole)
{
    *o = (struct graph_out){.path = path, .whole = whole, .fd = -1, .left = limit()};
    o->bytes = pages_alloc(GRAPH_OUT_SIZE);
    if (o->bytes)
        o->fd = kernel_open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (o->fd >= 0)
        return true;
    if (o->bytes)
        pages_free(o->bytes, GRAPH_OUT_SIZE);
    return false;
}

void graph_out_drain(struct graph_out *o)
{
    size_t done = 0;

    o->failed = o->failed || o->n > o->left;
    while (!o->failed && done < o->n) {
        long n = kernel_call(SYS_write, o->fd, o->bytes + done, o->n - done);

        if (n > 0)
            done += (size_t)n;
        else if (n != -EINTR)
            o->failed = true;
    }
    o->left -= done;
    o->n = 0;
}

bool graph_out_end(struct graph_out *o)
{
    graph_out_drain(o);
    kernel_call(SYS_close, o->fd);
    if (!o->failed && kernel_call(SYS_renameat2, AT_FDCWD, o->path, AT_FDCWD, o->whole,
                                  (unsigned long)RENAME_NOREPLACE) < 0)
        o->failed = true;
    if (o->failed)
        kernel_call(SYS_unlinkat, AT_FDCWD, o->path, 0);
    pages_free(o->bytes, GRAPH_OUT_SIZE);
    return !o->failed;
}
