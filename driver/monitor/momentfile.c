/*
 * The file is a trace of metadata alone: a header, and segments that are filled record by record. A
 * record's type is written last, as is a segment's magic, so that a reader finds whole moments
 * only. To thin the file is to write another one and to rename it.
 */
#include "driver/monitor/momentfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/plainfile.h"
#include "common/trace/trace_reader.h"

#define FIRST_SEGMENT 4096u
#define THIN_FROM ((uint64_t)1 << 20)

struct momentfile {
    char *path;
    int fd;
    int error; /* negative: writing has failed */
    struct trace_header header;
    uint64_t zero_ns, budget, per_age, thin_at;
    uint64_t size; /* of the file */
    uint64_t at;   /* of the next record */
    uint32_t segments, next_segment;
    uint32_t row_limit; /* rows of all changes are below it */
};

/* ---- writing ---- */

static int put(struct momentfile *f, const void *data, size_t len, uint64_t at)
{
    const char *s = data;

    while (len && !f->error) {
        ssize_t n = pwrite(f->fd, s, len, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            f->error = n < 0 ? -errno : -EIO;
            break;
        }
        s += n;
        len -= (size_t)n;
        at += (uint64_t)n;
    }
    return f->error;
}

static int put_header(struct momentfile *f)
{
    f->header.units = (uint32_t)(f->size / TRACE_UNIT);
    return put(f, &f->header, sizeof f->header, 0);
}

/* Begins a segment with room for `room` bytes. */
static int begin_segment(struct momentfile *f, size_t room)
{
    struct trace_segment s = {.magic = TRACE_SEGMENT_MAGIC, .type = TRACE_SEG_META};
    uint64_t size = f->next_segment;

    if (sizeof s + room > size)
        size = (sizeof s + room + TRACE_UNIT - 1) / TRACE_UNIT * TRACE_UNIT;
    if (f->next_segment < TRACE_SEGMENT_SIZE)
        f->next_segment *= 2;
    s.index = f->segments++;
    s.units = (uint32_t)(size / TRACE_UNIT);
    if (ftruncate(f->fd, (off_t)(f->size + size)) != 0)
        return f->error = -errno;
    f->at = f->size + sizeof s;
    put(f, &s, sizeof s, f->size);
    f->size += size;
    return put_header(f);
}

static int put_record(struct momentfile *f, uint32_t type, const void *payload, size_t len)
{
    size_t room = sizeof(struct trace_meta) + (len + 7) / 8 * 8;
    struct trace_meta meta = {.type = type, .size = (uint32_t)len};

    if (len > UINT32_MAX / 2)
        return f->error = -EFBIG;
    if (f->at + room > f->size && begin_segment(f, room))
        return f->error;
    put(f, payload, len, f->at + sizeof meta);
    put(f, &meta, sizeof meta, f->at);
    f->at += room;
    return f->error;
}

/* Sets the size at which the file is thinned. The rest of the budget is for the moment that exceeds
 * it. */
static void set_thin_at(struct momentfile *f, uint64_t size)
{
    f->thin_at = size < f->budget / 4 * 3 ? size : f->budget / 4 * 3;
}

static struct momentfile *make(const char *path, const struct trace_header *of, uint64_t zero_ns,
                               uint64_t budget)
{
    struct momentfile *f;
    int fd;

    unlink(path);
    fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return NULL;
    flock(fd, LOCK_EX | LOCK_NB);
    f = xcalloc(1, sizeof *f);
    *f = (struct momentfile){.path = xstrdup(path),
                             .fd = fd,
                             .header = *of,
                             .zero_ns = zero_ns,
                             .budget = budget,
                             .per_age = MOMENTFILE_PER_AGE,
                             .size = sizeof f->header,
                             .at = sizeof f->header,
                             .next_segment = FIRST_SEGMENT};
    f->header.features = 0;
    set_thin_at(f, THIN_FROM);
    put_record(f, TRACE_META_TIME_ZERO, &zero_ns, sizeof zero_ns);
    return f;
}

struct momentfile *momentfile_new(const char *path, const struct trace_header *of, uint64_t zero_ns,
                                  uint64_t budget)
{
    struct momentfile *f = make(path, of, zero_ns, budget);

    if (f && f->error) {
        errno = -f->error;
        unlink(path);
        momentfile_close(f);
        return NULL;
    }
    return f;
}

void momentfile_close(struct momentfile *f)
{
    if (!f)
        return;
    close(f->fd);
    free(f->path);
    free(f);
}

uint64_t momentfile_size(const struct momentfile *f)
{
    return f->size;
}

/* ---- thinning ---- */

/* Changes of moments that are dropped. They are added to the next moment that is kept. */
struct pending {
    struct trace_change *of_row; /* by row */
    size_t room;
    struct trace_change *list; /* of the rows that have changed */
    size_t n, list_room;
};

static void add_pending(struct pending *p, const struct trace_change *c)
{
    struct trace_change *sum;

    GROW_FILLED(p->of_row, c->row, p->room, 0);
    sum = &p->of_row[c->row];
    /* A row whose sum is zero and changes again is in the list twice. The first entry takes the
     * sum, so the second is zero. */
    if (!sum->bytes && !sum->blocks) {
        GROW(p->list, p->n, p->list_room);
        p->list[p->n++].row = c->row;
    }
    sum->bytes += c->bytes;
    sum->blocks += c->blocks;
}

static int by_row(const void *a, const void *b)
{
    const struct trace_change *x = a, *y = b;

    return (x->row > y->row) - (x->row < y->row);
}

static void put_pending(struct momentfile *f, struct pending *p, struct trace_moment m)
{
    struct strbuf record = STRBUF_INIT;
    size_t kept = 0;

    if (p->n)
        qsort(p->list, p->n, sizeof *p->list, by_row);
    for (size_t i = 0; i < p->n; i++) {
        struct trace_change *sum = &p->of_row[p->list[i].row];

        if (!sum->bytes && !sum->blocks)
            continue;
        p->list[kept++] = (struct trace_change){p->list[i].row, sum->bytes, sum->blocks};
        *sum = (struct trace_change){0, 0, 0};
    }
    trace_moment_encode(&record, &m, p->list, kept);
    put_record(f, TRACE_META_MOMENT, record.buf, record.len);
    strbuf_release(&record);
    p->n = 0;
}

static void copy_kept(struct momentfile *to, const struct trace *t, const bool *keep)
{
    struct pending p = {.of_row = NULL};
    struct trace_changes c;
    struct trace_change one;

    for (size_t i = 0; i < t->nmoments && !to->error; i++) {
        trace_changes_begin(&c, &t->moments[i]);
        while (trace_changes_next(&c, &one))
            if (one.row < to->row_limit) /* another process may have written there */
                add_pending(&p, &one);
        if (keep[i])
            put_pending(to, &p, t->moments[i].m);
    }
    free(p.of_row);
    free(p.list);
}

/* *f becomes the file `by`, which gets its name. */
static void replace(struct momentfile *f, struct momentfile *by)
{
    struct momentfile old = *f;

    if (rename(by->path, f->path) != 0) {
        f->error = -errno;
        unlink(by->path);
        momentfile_close(by);
        return;
    }
    *f = *by;
    f->path = old.path;
    f->budget = old.budget;
    f->per_age = old.per_age;
    close(old.fd);
    free(by->path);
    free(by);
}

/* Writes the file without surplus moments. False: there are no surplus moments. */
static bool thin_once(struct momentfile *f, const struct trace *t)
{
    uint64_t *times = xcalloc(t->nmoments, sizeof *times);
    bool *keep = xcalloc(t->nmoments, sizeof *keep), thinned = false;
    struct strbuf path = STRBUF_INIT;
    struct momentfile *to;

    for (size_t i = 0; i < t->nmoments; i++)
        times[i] = t->moments[i].m.monotonic_ns;
    if (t->nmoments && trace_moments_thin(times, keep, t->nmoments, times[t->nmoments - 1],
                                          f->per_age) < t->nmoments) {
        strbuf_addf(&path, "%s.new", f->path);
        to = make(path.buf, &f->header, f->zero_ns, f->budget);
        if (to) {
            to->row_limit = f->row_limit;
            copy_kept(to, t, keep);
            if (!to->error) {
                replace(f, to);
                thinned = true;
            } else {
                f->error = to->error;
                unlink(path.buf);
                momentfile_close(to);
            }
        } else {
            f->error = -errno;
        }
        strbuf_release(&path);
    }
    free(times);
    free(keep);
    return thinned;
}

/* Thins the file repeatedly, to ever fewer moments, while it is longer than half of the budget. */
static void thin(struct momentfile *f)
{
    do {
        struct trace *t;

        if (trace_load_quietly(f->path, &t) != 0)
            break;
        thin_once(f, t);
        trace_free(t);
        if (f->size <= f->budget / 2)
            break;
        f->per_age /= 2;
    } while (f->per_age && !f->error);
    if (!f->per_age)
        f->per_age = 1;
    set_thin_at(f, f->size * 2 < THIN_FROM ? THIN_FROM : f->size * 2);
}

int momentfile_add(struct momentfile *f, struct trace_moment m, const struct trace_change *changes,
                   size_t n)
{
    struct strbuf record = STRBUF_INIT;

    if (f->error)
        return f->error;
    if (n && changes[n - 1].row >= f->row_limit)
        f->row_limit = changes[n - 1].row + 1;
    trace_moment_encode(&record, &m, changes, n);
    put_record(f, TRACE_META_MOMENT, record.buf, record.len);
    strbuf_release(&record);
    if (!f->error && f->size >= f->thin_at)
        thin(f);
    return f->error;
}

/* ---- continuing ---- */

static bool is_same_process(const struct trace_header *a, const struct trace_header *b)
{
    return a->pid == b->pid && a->start_monotonic_ns == b->start_monotonic_ns &&
           a->start_realtime_ns == b->start_realtime_ns;
}

/* Adds up all changes, by row. */
static void add_up(const struct trace *t, uint32_t row_limit, struct momentfile_had *had)
{
    struct trace_changes c;
    struct trace_change one;
    size_t room = 0;

    *had = (struct momentfile_had){.of_row = NULL};
    for (size_t i = 0; i < t->nmoments; i++) {
        trace_changes_begin(&c, &t->moments[i]);
        while (trace_changes_next(&c, &one)) {
            if (one.row >= row_limit)
                continue;
            GROW_FILLED(had->of_row, one.row, room, 0);
            if (one.row >= had->n)
                had->n = one.row + 1;
            had->of_row[one.row].bytes += one.bytes;
            had->of_row[one.row].blocks += one.blocks;
        }
        had->latest_ns = t->moments[i].m.monotonic_ns;
    }
}

/* Copies the moments of a file to a new one, which replaces it: the end of the old file's last
 * segment is no longer known. */
static int take_over(struct momentfile **f, const char *path, const struct trace *t,
                     const struct momentfile_limits *limits, struct momentfile_had *had)
{
    bool *keep = xcalloc(t->nmoments, sizeof *keep);
    struct strbuf name = STRBUF_INIT;
    struct momentfile *to;
    int err = 0;

    memset(keep, true, t->nmoments * sizeof *keep);
    add_up(t, limits->rows, had);
    strbuf_addf(&name, "%s.new", path);
    to = momentfile_new(name.buf, &t->header, t->time_zero_ns, limits->budget);
    if (to) {
        to->row_limit = (uint32_t)had->n;
        copy_kept(to, t, keep);
        if (!to->error && rename(name.buf, path) != 0)
            to->error = -errno;
        err = to->error;
        free(to->path);
        to->path = xstrdup(path);
    } else {
        err = -errno;
    }
    if (to && err) {
        unlink(name.buf);
        momentfile_close(to);
    } else {
        *f = to;
    }
    strbuf_release(&name);
    free(keep);
    return err;
}

int momentfile_go_on(struct momentfile **f, const char *path, const struct trace_header *of,
                     const struct momentfile_limits *limits, struct momentfile_had *had)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW), err = 0;
    struct trace_header h;
    struct trace *t;

    *f = NULL;
    *had = (struct momentfile_had){.of_row = NULL};
    if (fd < 0)
        return fd == -ENOENT ? 0 : fd;
    if (trace_read_header(fd, &h) && is_same_process(&h, of)) {
        if (flock(fd, LOCK_EX | LOCK_NB) != 0)
            err = -errno;
        else if (trace_load_quietly(path, &t) == 0) {
            if (t->nmoments)
                err = take_over(f, path, t, limits, had);
            trace_free(t);
        }
    }
    close(fd);
    return err;
}

/* ---- into a trace ---- */

bool momentfile_is_of(const char *path, const struct trace_header *of)
{
    struct strbuf name = STRBUF_INIT;
    struct trace_header h;
    bool is = false;
    int fd;

    strbuf_addf(&name, "%s" TRACE_MOMENTS_ENDING, path);
    fd = plainfile_open(name.buf, O_RDONLY);
    if (fd >= 0) {
        is = trace_read_header(fd, &h) && is_same_process(&h, of);
        close(fd);
    }
    strbuf_release(&name);
    return is;
}

/* The whole file, which no writer lets grow beyond its budget by more than a moment. 0 or -errno.
 */
static int read_moments(struct strbuf *file, const char *path)
{
    int fd = plainfile_open(path, O_RDONLY), err;
    struct stat st;

    if (fd < 0)
        return fd;
    err = fstat(fd, &st) < 0                             ? -errno
          : (uint64_t)st.st_size > 2 * MOMENTFILE_BUDGET ? -EFBIG
                                                         : strbuf_read_fd(file, fd);
    close(fd);
    return err;
}

int momentfile_segments(struct strbuf *out, const char *path, uint32_t metas)
{
    struct strbuf name = STRBUF_INIT, file = STRBUF_INIT;
    struct trace_segment s;
    int err;

    strbuf_addf(&name, "%s" TRACE_MOMENTS_ENDING, path);
    err = read_moments(&file, name.buf);
    for (size_t at = sizeof(struct trace_header); !err && at + sizeof s <= file.len;) {
        size_t size;

        memcpy(&s, file.buf + at, sizeof s);
        size = (size_t)s.units * TRACE_UNIT;
        if (s.magic != TRACE_SEGMENT_MAGIC || !size || size > file.len - at)
            break;
        s.index = metas++;
        strbuf_add(out, &s, sizeof s);
        strbuf_add(out, file.buf + at + sizeof s, size - sizeof s);
        at += size;
    }
    strbuf_release(&file);
    if (err && err != -ENOENT)
        flame_cannot_read(name.buf, err);
    strbuf_release(&name);
    return err && err != -ENOENT ? FLAME_FAILED : 0;
}
