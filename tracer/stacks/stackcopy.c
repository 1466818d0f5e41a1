#define _GNU_SOURCE
#include "tracer/stacks/stackcopy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/processor/page_size.h"
#include "common/procpath.h"

/* Most bytes that are read for one stack; frames beyond are lost. */
#define TOTAL_MAX ((size_t)256 << 20)
#define BELOW 256
/* Bound on user addresses (Linux: 56 bits on x86-64, 52 on aarch64). */
#define ADDRESS_MAX ((uintptr_t)1 << 56)

void stackcopy_begin(struct stackcopy *c, pid_t tid, size_t guess)
{
    c->tid = tid;
    c->guess = guess;
    c->total = 0;
    c->used = c->last = 0;
    c->given = false;
}

void stackcopy_give(struct stackcopy *c, uintptr_t at, const uint8_t *bytes, size_t size)
{
    stackcopy_begin(c, 0, 0);
    c->given = true;
    c->own = (struct walk_window){.lo = at, .hi = at + size, .bytes = bytes};
}

void stackcopy_release(struct stackcopy *c)
{
    for (size_t i = 0; i < STACKCOPY_WINDOWS; i++)
        free((void *)c->windows[i].w.bytes);
    *c = (struct stackcopy){0};
}

/* Number of these bytes in pages that the process has, in memory or swapped out, before the first
 * missing page. A stack in use has all. */
static size_t existing(pid_t tid, uintptr_t from, size_t size)
{
    int fd = open(proc_path(tid, "pagemap").s, O_RDONLY | O_CLOEXEC);
    uintptr_t at = from & -page_size();
    uint64_t page;

    if (fd < 0)
        return size;
    while (at < from + size &&
           pread(fd, &page, sizeof page, (off_t)(at / page_size() * sizeof page)) == sizeof page &&
           page >> 62)
        at += page_size();
    close(fd);
    if (at >= from + size)
        return size;
    return at > from ? at - from : 0;
}

/* Reads from the window's end up to `to`. False when no byte can be read. */
static bool extend(struct stackcopy *c, struct stackcopy_window *x, uintptr_t to)
{
    size_t have = x->w.hi - x->w.lo, size;
    struct iovec ours, theirs;
    ssize_t n;

    if (x->whole || to <= x->w.hi || to > ADDRESS_MAX || c->total >= TOTAL_MAX)
        return false;
    size = to - x->w.lo;
    if (unlikely(c->wary))
        size = have + existing(c->tid, x->w.hi, size - have);
    if (size == have)
        return false;
    if (size > x->room) {
        x->room = size + size / 4;
        x->w.bytes = xrealloc((void *)x->w.bytes, x->room);
    }
    ours = (struct iovec){(uint8_t *)x->w.bytes + have, size - have};
    theirs = (struct iovec){(void *)x->w.hi, size - have};
    do
        n = process_vm_readv(c->tid, &ours, 1, &theirs, 1, 0);
    while (n < 0 && errno == EINTR);
    /* Fewer bytes than requested: up to the first missing page. */
    x->whole = n < (ssize_t)(to - x->w.hi);
    if (n <= 0)
        return false;
    x->w.hi += (uintptr_t)n;
    c->total += (size_t)n;
    return true;
}

static bool holds(const struct walk_window *w, uintptr_t addr)
{
    return addr >= w->lo && addr < w->hi && w->hi - addr >= sizeof addr;
}

bool stackcopy_window(void *arg, uintptr_t addr, struct walk_window *out)
{
    struct stackcopy *c = arg;
    struct stackcopy_window *x;

    if (c->given) {
        *out = c->own;
        return holds(&c->own, addr);
    }
    for (unsigned i = 0; i < c->used; i++) {
        x = &c->windows[i];
        if (!holds(&x->w, addr)) {
            size_t have = x->w.hi - x->w.lo;

            /* An address belongs to this stack if it is at most the window's size, and 16 pages,
             * above it. */
            if (x->whole || addr < x->w.lo || addr - x->w.lo > 2 * have + 16 * page_size())
                continue;
            extend(c, x, ((addr + 8) | (page_size() - 1)) + 1 + have);
            if (!holds(&x->w, addr))
                continue;
        }
        *out = x->w;
        return true;
    }
    if (c->used == STACKCOPY_WINDOWS || addr >= ADDRESS_MAX)
        return false;
    x = &c->windows[c->used];
    /* Also a little below: a frame's saved registers may lie there. */
    for (unsigned below = BELOW;; below = 0) {
        x->w.lo = x->w.hi = addr - below;
        x->w.there = NULL;
        x->whole = false;
        if (addr >= below && extend(c, x, ((addr + c->guess) | (page_size() - 1)) + 1) &&
            holds(&x->w, addr))
            break;
        if (!below)
            return false;
    }
    c->used++;
    *out = x->w;
    return true;
}

bool stackcopy_read(struct stackcopy *c, uintptr_t addr, void *to, size_t size)
{
    struct walk_window w;

    if (size > sizeof(uintptr_t) || !stackcopy_window(c, addr, &w))
        return false;
    memcpy(to, w.bytes + (addr - w.lo), size);
    return true;
}
