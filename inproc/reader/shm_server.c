/*
 * Problem: many rings, each in the order of its own times, must be emitted in one order.
 *
 * Algorithm: the next record of each ring that has one is in a heap by its time. A ring that
 * becomes empty leaves the heap and is read again by the next shm_server_drain.
 *
 * Both files are sealed against changes of their sizes before any program has them: a program that
 * truncated one would kill the tracer by SIGBUS.
 */
#define _GNU_SOURCE
#include "inproc/reader/shm_server.h"

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

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

/* Number of words after which room is freed even before all rings are read. */
#define GIVE_ROOM (RING_WORDS / 4)

struct shm_server {
    struct shm_head *head; /* the tracer's file: no other process writes to it */
    size_t size;
    struct shm_shared *shared; /* the programs' file: never trusted */
    size_t shared_size;
    uint32_t nrings;
    struct ring_control *controls;
    struct ring *rings;
    struct plain_fds *files;   /* PLAIN_FDS_TABLES */
    uint32_t used, files_used; /* largest counts that programs have written */
    int fd, shared_fd;
    struct proc_path name;
    struct ring_reader **readers; /* by ring; NULL: it was never taken */
    struct ring_reader **heap;    /* readers that hold a record, the earliest first */
    enum ring_result *what;       /* by place in the heap: what the record is */
    uint32_t nheap;
    uint32_t fill; /* result of shm_server_fill */
};

/* ---- the memory ---- */

static uint64_t up_to(uint64_t n, uint64_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* Makes a file without a name, and maps it; its size is sealed, and also `seals` if the kernel
 * knows them. 0 or -errno. */
static int make_file(int *fd, void **at, const char *name, size_t size, int seals)
{
    const int sizes = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

    *fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (*fd < 0 || ftruncate(*fd, (off_t)size) < 0)
        return -errno;
    *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, *fd, 0);
    if (*at == MAP_FAILED) {
        *at = NULL;
        return -errno;
    }
    if (fcntl(*fd, F_ADD_SEALS, sizes | seals) < 0 && fcntl(*fd, F_ADD_SEALS, sizes) < 0)
        return -errno;
    return 0;
}

static struct proc_path name_of(int fd)
{
    char number[32];

    snprintf(number, sizeof number, "fd/%d", fd);
    return proc_path(getpid(), number);
}

static void fill_modules(struct shm_head *head, const struct shm_server_options *o)
{
    struct shm_module *m = (struct shm_module *)((char *)head + head->modules_at);
    uint64_t at = head->modules_at + o->nmodules * sizeof *m;

    for (size_t i = 0; i < o->nmodules; i++) {
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

/* Layout of both files, and facts about the run. */
static struct shm_head plan(const struct shm_server_options *o)
{
    struct shm_head head = {.magic = SHM_MAGIC,
                            .version = SHM_VERSION,
                            .head_size = sizeof head,
                            .ring_size = sizeof(struct ring),
                            .rings = o->rings,
                            .modules_at = sizeof head,
                            .modules = (uint32_t)o->nmodules,
                            .filters = o->filters,
                            .marks = o->marks,
                            .sequences = o->sequences,
                            .python = o->python,
                            .files = PLAIN_FDS_TABLES,
                            .user = geteuid()};
    struct stat st;

    head.controls_at = head.modules_at + o->nmodules * sizeof(struct shm_module);
    for (size_t i = 0; i < o->nmodules; i++)
        head.controls_at += o->modules[i].n * sizeof *o->modules[i].sites;
    head.controls_at = up_to(head.controls_at, _Alignof(struct ring_control));
    head.size = head.controls_at + o->rings * sizeof(struct ring_control);
    head.files_at = up_to(sizeof(struct shm_shared), _Alignof(struct ring_control));
    head.rings_at =
        up_to(head.files_at + PLAIN_FDS_TABLES * sizeof(struct plain_fds), _Alignof(struct ring));
    head.shared_size = head.rings_at + (uint64_t)o->rings * sizeof(struct ring);
    memcpy(head.calls, o->calls, sizeof head.calls);
    if (stat("/proc/self/ns/pid", &st) == 0)
        head.pid_namespace = st.st_ino;
    return head;
}

static int make(struct shm_server *s, const struct shm_server_options *o)
{
    struct shm_head head = plan(o);
    struct proc_path shared_name;
    struct stat st;
    void *at;
    int err;

    s->size = head.size;
    s->shared_size = head.shared_size;
    err = make_file(&s->shared_fd, &at, SHM_FILE "-rings", s->shared_size, 0);
    if (err)
        return err;
    s->shared = at;
    s->files = (struct plain_fds *)((char *)at + head.files_at);
    s->rings = (struct ring *)((char *)at + head.rings_at);
    if (fstat(s->shared_fd, &st) < 0)
        return -errno;
    head.shared_inode = st.st_ino;
    shared_name = name_of(s->shared_fd);
    snprintf(head.shared_name, sizeof head.shared_name, "%s", shared_name.s);
    err = make_file(&s->fd, &at, SHM_FILE, s->size, F_SEAL_FUTURE_WRITE);
    if (err)
        return err;
    s->head = at;
    *s->head = head;
    s->controls = (struct ring_control *)((char *)at + head.controls_at);
    fill_modules(s->head, o);
    return 0;
}

int shm_server_new(struct shm_server **out, const struct shm_server_options *o)
{
    struct shm_server *s = xcalloc(1, sizeof *s);
    int err;

    s->fd = s->shared_fd = -1;
    err = make(s, o);
    if (err) {
        shm_server_free(s);
        return err;
    }
    s->nrings = o->rings;
    s->name = name_of(s->fd);
    s->readers = xcalloc(o->rings, sizeof *s->readers);
    s->heap = xcalloc(o->rings, sizeof *s->heap);
    s->what = xcalloc(o->rings, sizeof *s->what);
    *out = s;
    return 0;
}

void shm_server_free(struct shm_server *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->nrings && s->readers; i++)
        if (s->readers[i]) {
            ring_reader_release(s->readers[i]);
            free(s->readers[i]);
        }
    free(s->readers);
    free(s->heap);
    free(s->what);
    if (s->head)
        munmap(s->head, s->size);
    if (s->shared)
        munmap(s->shared, s->shared_size);
    if (s->fd >= 0)
        close(s->fd);
    if (s->shared_fd >= 0)
        close(s->shared_fd);
    free(s);
}

const char *shm_server_name(const struct shm_server *s)
{
    return s->name.s;
}

/* Number of rings or tables that have been taken. Programs write this count, which must not
 * decrease. */
static uint32_t taken(uint32_t *most, uint32_t *said, uint32_t limit)
{
    uint32_t now = __atomic_load_n(said, __ATOMIC_ACQUIRE);

    if (now > limit)
        now = limit;
    if (now > *most)
        *most = now;
    else if (now < *most)
        __atomic_store_n(said, *most, __ATOMIC_RELEASE);
    return *most;
}

/* ---- the heap ---- */

static void put_at(struct shm_server *s, uint32_t at, struct ring_reader *r, enum ring_result what)
{
    s->heap[at] = r;
    s->what[at] = what;
}

static void rise(struct shm_server *s, uint32_t at)
{
    struct ring_reader *r = s->heap[at];
    enum ring_result what = s->what[at];

    for (uint32_t up; at && s->heap[up = (at - 1) / 2]->time > r->time; at = up)
        put_at(s, at, s->heap[up], s->what[up]);
    put_at(s, at, r, what);
}

static void sink(struct shm_server *s)
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

/* ---- emitting ---- */

static enum ring_result next_of(struct ring_reader *r, uint64_t now,
                                const struct shm_server_client *c)
{
    bool was = r->damage != NULL;
    enum ring_result what = ring_next(r, now, &c->ring);

    if (what == RING_DAMAGED && !was)
        c->damaged(c->ring.arg, r);
    return what;
}

static bool is_record(enum ring_result what)
{
    return what == RING_ENTERED || what == RING_LEFT || what == RING_MARKER || what == RING_DELAYED;
}

/* Updates the fill from the ring's head, where the thread may have written any value. */
static void note_fill(struct shm_server *s, const struct ring_reader *r)
{
    uint64_t words = __atomic_load_n(&r->ring->head, __ATOMIC_RELAXED) - r->given;

    if (words > s->fill)
        s->fill = words < RING_WORDS ? (uint32_t)words : RING_WORDS;
}

uint32_t shm_server_fill(struct shm_server *s)
{
    uint32_t fill = s->fill;

    s->fill = 0;
    return fill;
}

/* Reads a record from each ring that has one and holds none. */
static void fill_heap(struct shm_server *s, uint64_t now, const struct shm_server_client *client)
{
    uint32_t used = taken(&s->used, &s->shared->used, s->nrings);

    for (uint32_t i = 0; i < used; i++) {
        enum ring_result what;

        if (!s->readers[i]) {
            s->readers[i] = xmalloc(sizeof **s->readers);
            ring_reader_init(s->readers[i], &s->rings[i], &s->controls[i]);
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

/* Replaces the earliest record, which has been emitted, by its ring's next one. */
static void replace_first(struct shm_server *s, uint64_t now,
                          const struct shm_server_client *client)
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

void shm_server_drain(struct shm_server *s, uint64_t until, const struct shm_server_client *client)
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
    for (uint32_t i = 0; i < s->nrings && s->readers[i]; i++)
        ring_give_room(s->readers[i]);
}

static struct ring_reader *reader_of(const struct shm_server *s, pid_t tid)
{
    for (uint32_t i = 0; i < s->nrings && s->readers[i]; i++)
        if (s->readers[i]->tid == tid)
            return s->readers[i];
    return NULL;
}

bool shm_server_has(const struct shm_server *s, pid_t tid)
{
    const struct ring_reader *r = reader_of(s, tid);

    return r && !r->damage;
}

void shm_server_thread_gone(struct shm_server *s, pid_t tid)
{
    struct ring_reader *r = reader_of(s, tid);
    struct ring_control *control;
    struct ring *ring;

    if (!r || r->held)
        return;
    ring = r->ring;
    control = r->control;
    /* A damaged or closed ring may have other writers: no thread gets it. */
    if (r->damage || control->closed) {
        r->damage = "closed";
        r->tid = -1;
        return;
    }
    r->pending = false;
    ring_give_room(r);
    ring_reader_release(r);
    ring_reader_init(r, ring, control);
    __atomic_store_n(&control->lent, 0, __ATOMIC_RELAXED);
    __atomic_fetch_add(&control->turn, 1, __ATOMIC_RELEASE); /* before it can be taken */
    __atomic_store_n(&ring->owner, 0, __ATOMIC_RELEASE);
}

void shm_server_close_ring(struct shm_server *s, pid_t tid)
{
    struct ring_reader *r = reader_of(s, tid);

    if (r)
        __atomic_store_n(&r->control->closed, 1, __ATOMIC_SEQ_CST);
}

void shm_server_handled(struct shm_server *s, pid_t tid, uint64_t time)
{
    struct ring_reader *r = reader_of(s, tid);

    if (r)
        __atomic_store_n(&r->control->handled, time, __ATOMIC_SEQ_CST);
}

void shm_server_lend(struct shm_server *s, pid_t tid, bool lent)
{
    struct ring_reader *r = reader_of(s, tid);

    if (r)
        __atomic_store_n(&r->control->lent, lent, __ATOMIC_SEQ_CST);
}

/* ---- descriptors ---- */

static struct plain_fds *files_of(struct shm_server *s, pid_t pid)
{
    taken(&s->files_used, &s->shared->files_used, PLAIN_FDS_TABLES);
    for (uint32_t i = 0; i < s->files_used; i++)
        if (__atomic_load_n(&s->files[i].owner, __ATOMIC_RELAXED) == (uint32_t)pid)
            return &s->files[i];
    return NULL;
}

void shm_server_file_used(struct shm_server *s, pid_t pid, int fd)
{
    struct plain_fds *f = files_of(s, pid);

    if (f)
        plain_fds_forget(f, (unsigned)fd);
}

void shm_server_file_closes(struct shm_server *s, pid_t pid, int fd)
{
    struct plain_fds *f = files_of(s, pid);

    if (!f)
        return;
    __atomic_fetch_add(&f->closes, 1, __ATOMIC_SEQ_CST);
    if (fd < 0)
        plain_fds_forget_all(f);
    else
        plain_fds_forget(f, (unsigned)fd);
}

static void hide(struct plain_fds *f)
{
    __atomic_store_n(&f->off, 1, __ATOMIC_SEQ_CST);
    plain_fds_forget_all(f);
}

void shm_server_files_hidden(struct shm_server *s, pid_t pid)
{
    struct plain_fds *f = pid ? files_of(s, pid) : NULL;

    if (f) {
        hide(f);
        return;
    }
    /* The process may be about to take a table. */
    __atomic_store_n(&s->head->files_off, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < PLAIN_FDS_TABLES; i++)
        if (__atomic_load_n(&s->files[i].owner, __ATOMIC_RELAXED))
            hide(&s->files[i]);
}

void shm_server_files_gone(struct shm_server *s, pid_t pid)
{
    struct plain_fds *f = files_of(s, pid);

    if (!f)
        return;
    memset(f->numbers, 0, sizeof f->numbers);
    f->off = f->closes = 0;
    __atomic_store_n(&f->owner, 0, __ATOMIC_RELEASE);
}

struct shm_refused shm_server_refused(const struct shm_server *s, enum shm_refusal why)
{
    const struct shm_refused *r = &s->shared->refused[why];

    return (struct shm_refused){.n = __atomic_load_n(&r->n, __ATOMIC_RELAXED),
                                .pid = __atomic_load_n(&r->pid, __ATOMIC_RELAXED),
                                .detail = __atomic_load_n(&r->detail, __ATOMIC_RELAXED)};
}

void shm_server_end(struct shm_server *s, const uint64_t calls[SHM_CALLS / 64])
{
    uint32_t used = taken(&s->used, &s->shared->used, s->nrings);

    for (size_t i = 0; i < SHM_CALLS / 64; i++)
        __atomic_store_n(&s->head->calls[i], calls[i], __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < s->nrings; i++)
        __atomic_store_n(&s->controls[i].closed, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < used; i++)
        if (__atomic_exchange_n(&s->rings[i].waits, 0, __ATOMIC_SEQ_CST))
            syscall(SYS_futex, &s->rings[i].waits, FUTEX_WAKE, 1, NULL, NULL, 0);
}
