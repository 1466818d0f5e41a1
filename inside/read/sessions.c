/*
 * Problem: many rings, each in the order of its own times, are to be told in one order.
 *
 * Algorithm: the next record of each ring that has one is in a heap by its time. A ring that runs
 * dry leaves the heap and is looked at again by the next session_tell.
 *
 * The memory is sealed against changes of its size before any program has it: a program that made
 * it shorter would have the tracer killed by SIGBUS.
 */
#define _GNU_SOURCE
#include "inside/read/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/procpath.h"

/* Room is given back while others are read, too, when so many words were. */
#define GIVE_ROOM (RING_WORDS / 4)

struct session {
    struct session_head *head; /* shared: never believed */
    size_t size;
    uint32_t rings;
    struct files *files; /* FILES_TABLES; shared */
    int fd;
    struct proc_path name;
    struct ring_reader **readers; /* by ring; NULL: it was never taken */
    struct ring_reader **heap;    /* those that hold a record, the earliest first */
    enum ring_result *what;       /* by place in the heap: what the record is */
    uint32_t nheap;
    uint32_t fill; /* what session_fill says */
};

static uint64_t up_to(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

static void fill_head(struct session_head *head, const struct session_options *o, size_t size,
                      uint64_t files_at, uint64_t rings_at)
{
    struct session_module *m = (struct session_module *)(head + 1);
    struct stat st;

    *head = (struct session_head){.magic = SESSION_MAGIC,
                                  .version = SESSION_VERSION,
                                  .head_size = sizeof *head,
                                  .ring_size = sizeof(struct ring),
                                  .rings = o->rings,
                                  .size = size,
                                  .rings_at = rings_at,
                                  .modules_at = sizeof *head,
                                  .modules = (uint32_t)o->nmodules,
                                  .filters = o->filters,
                                  .marks = o->marks,
                                  .sequences = o->sequences,
                                  .files_at = files_at,
                                  .files = FILES_TABLES};
    memcpy(head->calls, o->calls, sizeof head->calls);
    if (stat("/proc/self/ns/pid", &st) == 0)
        head->pid_namespace = st.st_ino;
    for (uint64_t i = 0, at = sizeof *head + o->nmodules * sizeof *m; i < o->nmodules; i++) {
        const struct site_list *list = &o->modules[i];

        m[i].build_id_len = (uint32_t)list->build_id_len;
        memcpy(m[i].build_id, list->build_id, list->build_id_len);
        m[i].n = (uint32_t)list->n;
        m[i].at = at;
        if (list->n)
            memcpy((char *)head + at, list->sites, list->n * sizeof *list->sites);
        at += list->n * sizeof *list->sites;
    }
}

static int make(struct session *s, const struct session_options *o)
{
    uint64_t files_at = sizeof *s->head + o->nmodules * sizeof(struct session_module), rings_at;
    void *at;

    for (size_t i = 0; i < o->nmodules; i++)
        files_at += o->modules[i].n * sizeof *o->modules[i].sites;
    files_at = up_to(files_at, 4096);
    rings_at = up_to(files_at + FILES_TABLES * sizeof(struct files), _Alignof(struct ring));
    s->size = rings_at + (uint64_t)o->rings * sizeof(struct ring);
    s->fd = memfd_create(SESSION_FILE, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->fd < 0 || ftruncate(s->fd, (off_t)s->size) < 0 ||
        fcntl(s->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
        return -errno;
    at = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, s->fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    s->head = at;
    fill_head(s->head, o, s->size, files_at, rings_at);
    s->files = (struct files *)((char *)at + files_at);
    return 0;
}

int session_new(struct session **out, const struct session_options *o)
{
    struct session *s = xcalloc(1, sizeof *s);
    char number[32];
    int err;

    s->fd = -1;
    err = make(s, o);
    if (err) {
        session_free(s);
        return err;
    }
    s->rings = o->rings;
    snprintf(number, sizeof number, "fd/%d", s->fd);
    s->name = proc_path(getpid(), number);
    s->readers = xcalloc(o->rings, sizeof *s->readers);
    s->heap = xcalloc(o->rings, sizeof *s->heap);
    s->what = xcalloc(o->rings, sizeof *s->what);
    *out = s;
    return 0;
}

void session_free(struct session *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->rings && s->readers; i++)
        if (s->readers[i]) {
            ring_reader_release(s->readers[i]);
            free(s->readers[i]);
        }
    free(s->readers);
    free(s->heap);
    free(s->what);
    if (s->head)
        munmap(s->head, s->size);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}

const char *session_name(const struct session *s)
{
    return s->name.s;
}

/* ---- the heap ---- */

static void put_at(struct session *s, uint32_t at, struct ring_reader *r, enum ring_result what)
{
    s->heap[at] = r;
    s->what[at] = what;
}

static void rise(struct session *s, uint32_t at)
{
    struct ring_reader *r = s->heap[at];
    enum ring_result what = s->what[at];

    for (uint32_t up; at && s->heap[up = (at - 1) / 2]->time > r->time; at = up)
        put_at(s, at, s->heap[up], s->what[up]);
    put_at(s, at, r, what);
}

static void sink(struct session *s)
{
    struct ring_reader *r = s->heap[0];
    enum ring_result what = s->what[0];
    uint32_t at = 0, down;

    while ((down = at * 2 + 1) < s->nheap) {
        if (down + 1 < s->nheap && s->heap[down + 1]->time < s->heap[down]->time)
            down++;
        if (s->heap[down]->time >= r->time)
            break;
        put_at(s, at, s->heap[down], s->what[down]);
        at = down;
    }
    put_at(s, at, r, what);
}

/* ---- telling ---- */

static enum ring_result next_of(struct ring_reader *r, uint64_t now, const struct session_client *c)
{
    bool was = r->damage != NULL;
    enum ring_result what = ring_next(r, now, &c->ring);

    if (what == RING_DAMAGED && !was)
        c->damaged(c->ring.arg, r);
    return what;
}

static bool is_record(enum ring_result what)
{
    return what == RING_ENTERED || what == RING_LEFT || what == RING_TOLD;
}

static struct ring *rings_of(const struct session *s)
{
    return (struct ring *)((char *)s->head + (s->size - (uint64_t)s->rings * sizeof(struct ring)));
}

/* The thread may have written anything there. */
static void note_fill(struct session *s, const struct ring_reader *r)
{
    uint64_t words = __atomic_load_n(&r->ring->head, __ATOMIC_RELAXED) - r->given;

    if (words > s->fill)
        s->fill = words < RING_WORDS ? (uint32_t)words : RING_WORDS;
}

uint32_t session_fill(struct session *s)
{
    uint32_t fill = s->fill;

    s->fill = 0;
    return fill;
}

/* Rings that hold no record get one, if they have one. */
static void fill_heap(struct session *s, uint64_t now, const struct session_client *client)
{
    uint32_t used = __atomic_load_n(&s->head->used, __ATOMIC_ACQUIRE);
    struct ring *rings = rings_of(s);

    for (uint32_t i = 0; i < used && i < s->rings; i++) {
        enum ring_result what;

        if (!s->readers[i]) {
            s->readers[i] = xmalloc(sizeof **s->readers);
            ring_reader_init(s->readers[i], &rings[i]);
        }
        note_fill(s, s->readers[i]);
        if (s->readers[i]->held)
            continue;
        what = next_of(s->readers[i], now, client);
        if (!is_record(what))
            continue;
        s->readers[i]->held = true;
        put_at(s, s->nheap, s->readers[i], what);
        rise(s, s->nheap++);
    }
}

/* The earliest has been told: the ring's next record takes its place. */
static void replace_first(struct session *s, uint64_t now, const struct session_client *client)
{
    struct ring_reader *r = s->heap[0];
    enum ring_result what = next_of(r, now, client);

    r->held = is_record(what);
    if (r->held)
        s->what[0] = what;
    else if (--s->nheap)
        put_at(s, 0, s->heap[s->nheap], s->what[s->nheap]);
    if (s->nheap)
        sink(s);
}

void session_tell(struct session *s, uint64_t until, const struct session_client *client)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC);

    __atomic_fetch_add(&s->head->beat, 1, __ATOMIC_RELAXED);
    fill_heap(s, now, client);
    while (s->nheap && s->heap[0]->time <= until) {
        struct ring_reader *r = s->heap[0];

        if (s->what[0] == RING_ENTERED && !r->passed)
            ring_passed(r);
        client->event(client->ring.arg, s->what[0], r);
        replace_first(s, now, client);
        if (r->tail - r->given >= GIVE_ROOM)
            ring_give_room(r);
    }
    for (uint32_t i = 0; i < s->rings && s->readers[i]; i++)
        ring_give_room(s->readers[i]);
}

static struct ring_reader *reader_of(const struct session *s, pid_t tid)
{
    for (uint32_t i = 0; i < s->rings && s->readers[i]; i++)
        if (s->readers[i]->tid == tid)
            return s->readers[i];
    return NULL;
}

bool session_has(const struct session *s, pid_t tid)
{
    const struct ring_reader *r = reader_of(s, tid);

    return r && !r->damage;
}

void session_thread_gone(struct session *s, pid_t tid)
{
    struct ring_reader *r = reader_of(s, tid);
    struct ring *ring;

    if (!r || r->held)
        return;
    ring = r->ring;
    /* What is damaged or closed may be written to by somebody else: nobody gets it. */
    if (r->damage || __atomic_load_n(&ring->closed, __ATOMIC_SEQ_CST)) {
        r->damage = "closed";
        r->tid = -1;
        return;
    }
    r->pending = false;
    ring_give_room(r);
    ring_reader_release(r);
    ring_reader_init(r, ring);
    __atomic_store_n(&ring->lent, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE);
}

void session_close_ring(struct session *s, pid_t tid)
{
    struct ring_reader *r = reader_of(s, tid);

    if (r)
        __atomic_store_n(&r->ring->closed, 1, __ATOMIC_SEQ_CST);
}

void session_handled(struct session *s, pid_t tid, uint64_t time)
{
    struct ring_reader *r = reader_of(s, tid);

    if (r)
        __atomic_store_n(&r->ring->handled, time, __ATOMIC_SEQ_CST);
}

void session_lend(struct session *s, pid_t tid, bool lent)
{
    struct ring_reader *r = reader_of(s, tid);

    if (r)
        __atomic_store_n(&r->ring->lent, lent, __ATOMIC_SEQ_CST);
}

/* ---- descriptors ---- */

static struct files *files_of(const struct session *s, pid_t pid)
{
    uint32_t used = __atomic_load_n(&s->head->files_used, __ATOMIC_ACQUIRE);

    for (uint32_t i = 0; i < used && i < FILES_TABLES; i++)
        if (__atomic_load_n(&s->files[i].owner, __ATOMIC_RELAXED) == (uint32_t)pid)
            return &s->files[i];
    return NULL;
}

void session_file_used(struct session *s, pid_t pid, int fd)
{
    struct files *f = files_of(s, pid);

    if (f)
        files_forget(f, (unsigned)fd);
}

void session_file_closes(struct session *s, pid_t pid, int fd)
{
    struct files *f = files_of(s, pid);

    if (!f)
        return;
    __atomic_fetch_add(&f->closes, 1, __ATOMIC_SEQ_CST);
    if (fd < 0)
        files_forget_all(f);
    else
        files_forget(f, (unsigned)fd);
}

static void hide(struct files *f)
{
    __atomic_store_n(&f->off, 1, __ATOMIC_SEQ_CST);
    files_forget_all(f);
}

void session_files_hidden(struct session *s, pid_t pid)
{
    struct files *f = pid ? files_of(s, pid) : NULL;

    if (f) {
        hide(f);
        return;
    }
    /* It may be about to take one. */
    __atomic_store_n(&s->head->files_off, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < FILES_TABLES; i++)
        if (__atomic_load_n(&s->files[i].owner, __ATOMIC_RELAXED))
            hide(&s->files[i]);
}

void session_files_gone(struct session *s, pid_t pid)
{
    struct files *f = files_of(s, pid);

    if (!f)
        return;
    memset(f->numbers, 0, sizeof f->numbers);
    f->off = f->closes = 0;
    __atomic_store_n(&f->owner, 0, __ATOMIC_RELEASE);
}

struct session_refused session_refused(const struct session *s, enum session_refusal why)
{
    const struct session_refused *r = &s->head->refused[why];

    return (struct session_refused){.n = __atomic_load_n(&r->n, __ATOMIC_RELAXED),
                                    .pid = __atomic_load_n(&r->pid, __ATOMIC_RELAXED),
                                    .detail = __atomic_load_n(&r->detail, __ATOMIC_RELAXED)};
}

void session_end(struct session *s, const uint64_t calls[SESSION_CALLS / 64])
{
    struct ring *rings = rings_of(s);

    for (size_t i = 0; i < SESSION_CALLS / 64; i++)
        __atomic_store_n(&s->head->calls[i], calls[i], __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < s->rings; i++) {
        __atomic_store_n(&rings[i].closed, 1, __ATOMIC_SEQ_CST);
        if (__atomic_exchange_n(&rings[i].waits, 0, __ATOMIC_SEQ_CST))
            syscall(SYS_futex, &rings[i].waits, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}
