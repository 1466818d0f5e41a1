#define _GNU_SOURCE
#include "tracer/objects/pollset.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>

#include "common/alloc.h"
#include "tracer/offcpu/idhash.h"
#include "tracer/objects/fdinfo.h"
#include "tracer/objects/objects.h"

#define KEPT_MAX 1024

struct kept {
    uint64_t key; /* pid << 32 | fd */
    struct off_object *members;
    size_t n;
    UT_hash_handle hh;
};

struct pollsets {
    struct fds *fds;
    struct kept *kept;
    struct off_object *members; /* being read */
    size_t n, room;
    bool settled; /* no member can become another object */
};

struct pollsets *pollsets_new(struct fds *fds)
{
    struct pollsets *p = xcalloc(1, sizeof *p);

    p->fds = fds;
    return p;
}

static void drop(struct pollsets *p, struct kept *k)
{
    HASH_DEL(p->kept, k);
    free(k->members);
    free(k);
}

void pollsets_free(struct pollsets *p)
{
    if (!p)
        return;
    for (struct kept *k = p->kept, *next; k; k = next) {
        next = k->hh.next;
        drop(p, k);
    }
    free(p->members);
    free(p);
}

static uint64_t key_of(pid_t pid, int fd)
{
    return (uint64_t)(uint32_t)pid << 32 | (uint32_t)fd;
}

void pollsets_forget(struct pollsets *p, pid_t pid, int fd)
{
    uint64_t key = key_of(pid, fd);
    struct kept *k, *next;

    if (fd >= 0) {
        HASH_FIND(hh, p->kept, &key, sizeof key, k);
        if (k)
            drop(p, k);
        return;
    }
    for (k = p->kept; k; k = next) {
        next = k->hh.next;
        if (k->key >> 32 == (uint32_t)pid)
            drop(p, k);
    }
}

static void add(struct pollsets *p, pid_t pid, pid_t tid, int fd, unsigned wants)
{
    struct off_object object;

    if (fd < 0 || p->n == OFF_SET_MAX)
        return;
    if (!fds_object(p->fds, pid, tid, fd, &object))
        p->settled = false;
    if (object.kind == OFF_ON_NOTHING)
        return;
    object.wants = (uint16_t)wants;
    GROW(p->members, p->n, p->room);
    p->members[p->n++] = object;
}

/* poll's and epoll's bits are the same. */
static unsigned wants_of(unsigned events)
{
    unsigned wants = (events & POLLOUT ? (unsigned)OFF_WANTS_ROOM : 0) |
                     (events & (POLLIN | POLLPRI) ? (unsigned)OFF_WANTS_DATA : 0);

    return wants ? wants : OFF_WANTS_DATA; /* hang-ups are always reported */
}

static void finish(struct pollsets *p, struct off_set *out)
{
    if (p->n)
        qsort(p->members, p->n, sizeof *p->members, off_order);
    *out = (struct off_set){p->members, p->n};
}

static void read_poll(struct pollsets *p, const struct objects_call *call)
{
    const uint64_t *args = call->args;
    struct pollfd fds[256];
    uint64_t n = args[1] < OFF_SET_MAX ? args[1] : OFF_SET_MAX;

    for (uint64_t i = 0; i < n; i += ARRAY_LEN(fds)) {
        size_t now = n - i < ARRAY_LEN(fds) ? (size_t)(n - i) : ARRAY_LEN(fds);

        if (!objects_peek(call, args[0] + i * sizeof fds[0], fds, now * sizeof fds[0]))
            return;
        for (size_t k = 0; k < now; k++)
            add(p, call->pid, call->tid, fds[k].fd, wants_of((unsigned short)fds[k].events));
    }
}

static void read_select(struct pollsets *p, const struct objects_call *call)
{
    const uint64_t *args = call->args;
    uint64_t bits[3][OFF_SET_MAX / 64] = {{0}};
    int n = (int)args[0] < OFF_SET_MAX ? (int)args[0] : OFF_SET_MAX;
    size_t words = n > 0 ? ((size_t)n + 63) / 64 : 0;

    for (size_t s = 0; s < 3; s++)
        if (args[1 + s] && words &&
            !objects_peek(call, args[1 + s], bits[s], words * sizeof bits[s][0]))
            return;
    for (int fd = 0; fd < n; fd++) {
        uint64_t bit = (uint64_t)1 << (fd % 64);
        unsigned wants = ((bits[0][fd / 64] | bits[2][fd / 64]) & bit ? OFF_WANTS_DATA : 0u) |
                         (bits[1][fd / 64] & bit ? OFF_WANTS_ROOM : 0u);

        if (wants)
            add(p, call->pid, call->tid, fd, wants);
    }
}

void pollsets_of_poll(struct pollsets *p, const struct objects_call *call, struct off_set *out)
{
    p->n = 0;
    read_poll(p, call);
    finish(p, out);
}

void pollsets_of_select(struct pollsets *p, const struct objects_call *call, struct off_set *out)
{
    p->n = 0;
    read_select(p, call);
    finish(p, out);
}

void pollsets_of_epoll(struct pollsets *p, pid_t pid, pid_t tid, int fd, struct off_set *out)
{
    struct strbuf text = STRBUF_INIT;
    uint64_t key = key_of(pid, fd);
    struct epoll_member m;
    char name[32];
    struct kept *k;

    HASH_FIND(hh, p->kept, &key, sizeof key, k);
    if (k) {
        *out = (struct off_set){k->members, k->n};
        return;
    }
    p->n = 0;
    p->settled = true;
    snprintf(name, sizeof name, "fdinfo/%d", fd);
    if (fds_text(tid, name, &text))
        for (size_t at = 0; fdinfo_epoll(text.buf, text.len, &at, &m);)
            add(p, pid, tid, (int)m.fd, wants_of(m.events));
    strbuf_release(&text);
    finish(p, out);
    if (!p->settled)
        return;
    if (HASH_COUNT(p->kept) >= KEPT_MAX)
        drop(p, p->kept);
    k = xcalloc(1, sizeof *k);
    k->key = key;
    k->n = p->n;
    k->members = xmalloc(p->n ? p->n * sizeof *k->members : 1);
    if (p->n)
        memcpy(k->members, p->members, p->n * sizeof *k->members);
    HASH_ADD(hh, p->kept, key, sizeof k->key, k);
    *out = (struct off_set){k->members, k->n};
}
