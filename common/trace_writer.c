/*
 * Problem: a file that grows while it is mapped, is readable at any instant, and
 * whose writer lives in a program that may close our descriptors, fill the disk,
 * change directory or be killed.
 *
 * Algorithm: the file is an array of 64 KiB segments. It grows by extents of
 * several segments: open the path, check device and inode, fallocate, mmap,
 * close; then header.segments says so. Segments are handed out of the newest
 * extent; a segment's magic is written last.
 *
 * Rejected: one huge sparse mapping made at start. A hole that the disk cannot
 * fill is a SIGBUS in somebody else's program, `ls -l` would show gigabytes, and
 * RLIMIT_AS would count them. Keeping the descriptor: daemons close all of them
 * and reuse the numbers.
 */
#define _GNU_SOURCE
#include "common/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SEG ((size_t)TRACE_SEGMENT_SIZE)
#define MAX_EXTENT_SEGMENTS 64
#define META_MAX 32768

/* Allocates [offset, offset + size) on disk. Not posix_fallocate alone: passing
 * RLIMIT_FSIZE would send the program a SIGXFSZ. */
static int allocate(int fd, off_t offset, size_t size)
{
    static const char zeros[4096];
    struct rlimit lim;

    if (syscall(SYS_prlimit64, 0, RLIMIT_FSIZE, NULL, &lim) == 0 && lim.rlim_cur != RLIM_INFINITY &&
        (rlim_t)offset + size > lim.rlim_cur)
        return -EFBIG;
    if (syscall(SYS_fallocate, fd, 0, offset, (off_t)size) == 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != ENOSYS && errno != EINTR)
        return -errno;
    /* Some file systems cannot reserve; written zeros are allocated space too. */
    for (size_t done = 0; done < size;) {
        ssize_t n = syscall(SYS_pwrite64, fd, zeros, sizeof zeros, offset + (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    return 0;
}

static int map_extent(struct trace_writer *w, int fd, uint32_t first, uint32_t count, void **out)
{
    off_t offset = (off_t)first * (off_t)SEG;
    size_t size = count * SEG;
    int err;
    long p;

    if (w->nextents == TRACE_WRITER_EXTENTS)
        return -EFBIG;
    err = allocate(fd, offset, size);
    if (err)
        return err;
    p = syscall(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (p == -1)
        return -errno;
    w->extents[w->nextents].base = (void *)p;
    w->extents[w->nextents].size = size;
    w->nextents++;
    *out = (void *)p;
    return 0;
}

static int open_again(const struct trace_writer *w)
{
    struct stat st;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, w->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0);

    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino) {
        syscall(SYS_close, fd);
        return -ESTALE;
    }
    return fd;
}

static int grow(struct trace_writer *w)
{
    uint32_t have = w->header->segments, count = have / 8;
    void *base;
    int fd, err;

    if (count < 1)
        count = 1;
    if (count > MAX_EXTENT_SEGMENTS)
        count = MAX_EXTENT_SEGMENTS;
    fd = open_again(w);
    if (fd < 0)
        return fd;
    err = map_extent(w, fd, have, count, &base);
    syscall(SYS_close, fd);
    if (err)
        return err;
    __atomic_store_n(&w->header->segments, have + count, __ATOMIC_RELEASE);
    w->spare = base;
    w->spares = count;
    return 0;
}

int trace_writer_create(struct trace_writer *w, const char *path, const struct trace_header *init,
                        uint32_t initial_segments)
{
    struct stat st;
    struct trace_header *h;
    void *base;
    size_t len = strlen(path);
    int fd, err;

    memset(w, 0, sizeof *w);
    if (len >= sizeof w->path)
        return -ENAMETOOLONG;
    memcpy(w->path, path, len + 1);
    /* O_EXCL never follows a symbolic link in the last component. */
    fd = (int)syscall(SYS_openat, AT_FDCWD, path,
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    err = fstat(fd, &st) < 0 ? -errno : map_extent(w, fd, 0, initial_segments, &base);
    syscall(SYS_close, fd);
    if (err) {
        syscall(SYS_unlinkat, AT_FDCWD, path, 0);
        return err;
    }
    w->dev = st.st_dev;
    w->ino = st.st_ino;
    h = base;
    *h = *init;
    memset(h->magic, 0, sizeof h->magic);
    h->version = TRACE_VERSION;
    h->header_size = sizeof *h;
    h->byte_order = TRACE_BYTE_ORDER;
    h->segment_size = TRACE_SEGMENT_SIZE;
    h->segments = initial_segments;
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(h->magic, TRACE_MAGIC, sizeof h->magic);
    w->header = h;
    w->spare = (char *)base + SEG;
    w->spares = initial_segments - 1;
    w->meta = base;
    w->meta_at = sizeof *h;
    w->meta_end = SEG;
    w->counts[TRACE_SEG_META] = 1;
    return 0;
}

/* Called with the lock held. */
static void *take_segment(struct trace_writer *w, enum trace_segment_type type,
                          uint32_t record_size, uint32_t *index)
{
    struct trace_segment *s;
    int err;

    if (!w->header || w->full)
        return NULL;
    if (!w->spares) {
        err = grow(w);
        if (err) {
            w->error = err;
            w->full = true;
            return NULL;
        }
    }
    s = (struct trace_segment *)w->spare;
    w->spare += SEG;
    w->spares--;
    s->type = type;
    s->index = w->counts[type]++;
    s->record_size = record_size;
    *index = s->index;
    __atomic_store_n(&s->magic, TRACE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    return s;
}

void *trace_writer_segment(struct trace_writer *w, enum trace_segment_type type,
                           uint32_t record_size, uint32_t *index)
{
    void *s;

    leaflock_take(&w->lock);
    s = take_segment(w, type, record_size, index);
    leaflock_drop(&w->lock);
    return s;
}

/* File offset of an address inside the mapping. Extents are mapped in file order. */
static uint64_t offset_of(const struct trace_writer *w, const char *at)
{
    uint64_t offset = 0;

    for (size_t i = 0; i < w->nextents; i++) {
        const char *base = w->extents[i].base;

        if (at >= base && at < base + w->extents[i].size)
            return offset + (uint64_t)(at - base);
        offset += w->extents[i].size;
    }
    return 0;
}

void *trace_writer_meta(struct trace_writer *w, enum trace_meta_type type, const void *a,
                        size_t alen, const void *b, size_t blen, uint64_t *file_offset)
{
    size_t size = alen + blen, room = sizeof(struct trace_meta) + ((size + 7) & ~(size_t)7);
    struct trace_meta *m = NULL;
    char *payload = NULL;
    uint32_t index;

    if (size > META_MAX || !w->header)
        return NULL;
    leaflock_take(&w->lock);
    if (w->meta_at + room > w->meta_end) {
        char *s = take_segment(w, TRACE_SEG_META, 0, &index);

        if (!s)
            goto out;
        w->meta = s;
        w->meta_at = sizeof(struct trace_segment);
    }
    m = (struct trace_meta *)(w->meta + w->meta_at);
    payload = (char *)(m + 1);
    memcpy(payload, a, alen);
    if (blen)
        memcpy(payload + alen, b, blen);
    m->size = (uint32_t)size;
    w->meta_at += room;
    if (file_offset)
        *file_offset = offset_of(w, (char *)m);
    __atomic_store_n(&m->type, (uint32_t)type, __ATOMIC_RELEASE);
out:
    leaflock_drop(&w->lock);
    return payload;
}

void trace_writer_abandon(struct trace_writer *w)
{
    for (size_t i = 0; i < w->nextents; i++)
        syscall(SYS_munmap, w->extents[i].base, w->extents[i].size);
    memset(w, 0, sizeof *w);
}
