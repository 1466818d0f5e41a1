/*
 * A place in the list is compared with its neighbours alone when its trace is opened. So opening
 * all of them takes time that is linear in their number, and a damaged place costs no more than the
 * traces beside it.
 *
 * Rejected: going from trace to trace by the sizes in their headers, because one damaged header
 * would cost all traces behind it. Rejected: the list in the first trace, because sizes are known
 * when the traces have been written, and a pipe cannot be written twice.
 */
#include "common/files/trace_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/plainfile.h"

#define DIGITS_MAX 7u /* of TRACE_LIST_MAX */

/* See trace_file_is_hollow. */
#define HOLLOW_FROM ((uint64_t)256 << 20)
#define HOLLOW_SHARE 64u

bool trace_file_is_hollow(const struct stat *st, uint64_t used)
{
    uint64_t on_disk = (uint64_t)st->st_blocks * 512;

    return on_disk && used > HOLLOW_FROM && used / HOLLOW_SHARE > on_disk;
}

static bool has_magic(const struct trace_header *h)
{
    return memcmp(h->magic, TRACE_MAGIC, sizeof h->magic) == 0;
}

char *trace_file_split(const char *path, uint32_t *number)
{
    const char *slash = strrchr(path, '/');
    size_t digits = slash ? strspn(slash + 1, "0123456789") : 0;

    if (!digits || slash == path || slash[1] == '0' || slash[1 + digits] || digits > DIGITS_MAX)
        return NULL;
    *number = (uint32_t)strtoul(slash + 1, NULL, 10);
    return xmemdup0(path, (size_t)(slash - path));
}

static bool read_at(int fd, uint64_t at, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* The places in a file of several traces. */
struct list {
    uint64_t at; /* of the list, and the end of the traces */
    uint32_t traces;
};

/* The number of traces in an open file, and where their list is. 0 traces: it has one, or is none.
 * 0 or TRACE_FILE_DAMAGED. */
static int find_list(int fd, struct list *l)
{
    struct trace_list head;
    struct trace_header h;
    struct stat st;
    uint64_t size;

    *l = (struct list){.at = 0};
    if (!read_at(fd, 0, &h, sizeof h) || !has_magic(&h) || h.traces < 2 ||
        h.byte_order != TRACE_BYTE_ORDER)
        return 0;
    l->traces = h.traces;
    size = trace_list_size(h.traces);
    if (h.traces > TRACE_LIST_MAX || fstat(fd, &st) < 0 || (uint64_t)st.st_size <= size ||
        trace_file_is_hollow(&st, (uint64_t)st.st_size))
        return TRACE_FILE_DAMAGED;
    l->at = (uint64_t)st.st_size - size;
    if (l->at % TRACE_UNIT || !read_at(fd, l->at, &head, sizeof head) ||
        memcmp(head.magic, TRACE_LIST_MAGIC, sizeof head.magic) != 0 || head.traces != h.traces)
        return TRACE_FILE_DAMAGED;
    return 0;
}

/* The i-th place (from 0). Its beginning is that of the list behind the last one, and its size is 0
 * there. */
static bool read_place(int fd, const struct list *l, uint32_t i, struct trace_place *p)
{
    *p = (struct trace_place){.at = l->at};
    return i >= l->traces ||
           read_at(fd, l->at + sizeof(struct trace_list) + (uint64_t)i * sizeof *p, p, sizeof *p);
}

/* Finds the i-th place (from 0), which must lie between those beside it. */
static bool find_place(int fd, const struct list *l, uint32_t i, struct trace_place *p)
{
    struct trace_place before = {0}, behind;

    if ((i && !read_place(fd, l, i - 1, &before)) || !read_place(fd, l, i, p) ||
        !read_place(fd, l, i + 1, &behind))
        return false;
    return p->at % TRACE_UNIT == 0 && p->at <= l->at && p->size <= l->at - p->at &&
           (i ? before.at <= p->at && before.size <= p->at - before.at : p->at == 0) &&
           p->at + p->size <= behind.at;
}

/* A trace in a file that has several. */
static int open_part(const char *path, int flags, struct trace_file *f)
{
    struct trace_place p = {0};
    uint32_t number = 0;
    char *file = trace_file_split(path, &number);
    int fd = file ? plainfile_open(file, O_RDONLY | flags) : -ENOTDIR, err = fd < 0 ? fd : 0;
    struct list l;

    free(file);
    if (!err)
        err = find_list(fd, &l);
    if (!err && !l.traces)
        err = -ENOTDIR;
    if (!err && number > l.traces)
        err = -ENOENT;
    if (!err && !find_place(fd, &l, number - 1, &p))
        err = TRACE_FILE_DAMAGED;
    if (err && fd >= 0)
        close(fd);
    *f = (struct trace_file){.fd = err ? -1 : fd, .is_part = true, .at = p.at, .size = p.size};
    return err;
}

int trace_file_open(const char *path, int flags, struct trace_file *f)
{
    int fd = plainfile_open(path, O_RDONLY | flags);

    if (fd == -ENOTDIR)
        return open_part(path, flags, f);
    *f = (struct trace_file){.fd = fd, .size = UINT64_MAX};
    return fd < 0 ? fd : 0;
}

bool trace_file_read(const struct trace_file *f, uint64_t at, void *to, size_t size)
{
    return at <= f->size && size <= f->size - at && read_at(f->fd, f->at + at, to, size);
}

bool trace_file_header(const struct trace_file *f, struct trace_header *h)
{
    return trace_file_read(f, 0, h, sizeof *h) && has_magic(h) &&
           h->byte_order == TRACE_BYTE_ORDER && h->version == TRACE_VERSION &&
           h->recorder == TRACE_RECORDER_MEM;
}

uint64_t trace_file_size(const char *path)
{
    uint64_t size = 0;
    struct trace_file f;
    struct stat st;

    if (stat(path, &st) == 0)
        return st.st_size > 0 ? (uint64_t)st.st_size : 0;
    if (errno == ENOTDIR && trace_file_open(path, 0, &f) == 0) {
        size = f.size;
        close(f.fd);
    }
    return size;
}

int trace_file_count(const char *path, uint32_t *n)
{
    int fd = plainfile_open(path, O_RDONLY), err;
    struct list l;

    *n = 0;
    if (fd < 0)
        return 0;
    err = find_list(fd, &l);
    close(fd);
    *n = l.traces;
    return err;
}

bool trace_file_is_part(const char *path)
{
    uint32_t number = 0, n = 0;
    char *file = trace_file_split(path, &number);

    if (file)
        trace_file_count(file, &n);
    free(file);
    return n && number <= n;
}

int trace_file_cannot_read(const char *path, int err)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    char *file = slash ? xmemdup0(path, (size_t)(slash - path)) : NULL;
    struct trace_header h;
    struct trace_file f;
    uint32_t n = 0;
    bool alone = false;

    if (file && (err == -ENOTDIR || err == -ENOENT) && trace_file_count(file, &n) == 0 && n == 0 &&
        trace_file_open(file, 0, &f) == 0) {
        alone = trace_file_read(&f, 0, &h, sizeof h) && has_magic(&h);
        close(f.fd);
    }
    if (n)
        flame_error(FLAME_USAGE,
                    "%s: cannot read: the file has traces 1 to %" PRIu32 "; name one of "
                    "them, or the file",
                    path, n);
    else if (alone)
        flame_error(FLAME_USAGE, "%s: cannot read: the file has one trace; name the file", path);
    else
        flame_cannot_read(path, err);
    free(file);
    return FLAME_USAGE;
}

const char *trace_file_why(int err)
{
    return err == TRACE_FILE_DAMAGED ? "its place in the file is damaged, or the file is cut"
                                     : plainfile_why(err);
}
