/*
 * Problem: a file that grows while it is mapped, is readable at any instant, and
 * whose writer lives in a program that may close its descriptors, fill the disk,
 * change directory or be killed.
 *
 * Algorithm: the file is mapped in extents, each larger than is needed yet: the part ahead is a
 * hole and is not touched. MADV_POPULATE_WRITE turns it into room for segments: it fills the hole,
 * and fails when the disk is full, where a store would be a SIGBUS. That takes no path and no
 * descriptor, so the file continues to grow after chroot, setuid, a limit on sizes, or a filter
 * that forbids openat. Where the kernel lacks it (before Linux 5.14), and beyond an extent's end:
 * open the path, check device and inode, fallocate, close. header.units counts the usable units.
 *
 * A segment's magic is written last, and never before that of the segment in front of it. The rest
 * of an extent into which the next segment does not fit becomes a gap, so that a reader can step
 * from segment to segment to the end.
 *
 * A process may live for a millisecond, and thousands of others follow it, so the file starts with
 * 16 KiB, which holds some dozen stacks, and with short segments; it grows by half and later by an
 * eighth of itself.
 *
 * Rejected: one huge mapping made at start. `ls -l` would show gigabytes, and RLIMIT_AS would count
 * them (where there is one, nothing is mapped ahead). Rejected: an open descriptor, because daemons
 * close all of them and reuse the numbers.
 */
#define _GNU_SOURCE
#include "common/trace/trace_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif

#define FIRST_GROWTH ((size_t)16 << 10)
#define LARGE_FILE ((size_t)512 << 10)
#define MAX_GROWTH ((size_t)4 << 20)
#define AHEAD ((size_t)4 << 20) /* of an extent */
#define META_MAX 32768

/* The part of `size` bytes that a limit of this process allows: 0 if the limit is not known, as
 * exceeding RLIMIT_FSIZE would send the program a SIGXFSZ. */
static uint64_t limited(int resource, uint64_t size)
{
    struct rlimit lim;

    if (kernel_call(SYS_prlimit64, 0, resource, NULL, &lim) < 0)
        return 0;
    return lim.rlim_cur == RLIM_INFINITY || lim.rlim_cur > size ? size : lim.rlim_cur;
}

static const char zeros[4096];

/* Written zeros are allocated space, too: for file systems that cannot reserve any. */
static int write_zeros(int fd, off_t offset, size_t size)
{
    for (size_t done = 0; done < size;) {
        long n = kernel_call(SYS_pwrite64, fd, zeros, sizeof zeros, offset + (off_t)done);

        if (n == -EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? (int)n : -EIO;
        done += (size_t)n;
    }
    return 0;
}

/* Like write_zeros, at the file's end and by write(2) alone; `fd` appends, or is new. */
static int append_zeros(int fd, off_t offset, size_t size)
{
    struct stat st;
    long n;

    if (kernel_fstat(fd, &st) < 0 || st.st_size != offset)
        return -EPERM;
    for (size_t done = 0; done < size; done += (size_t)n) {
        n = kernel_call(SYS_write, fd, zeros, sizeof zeros);
        if (n == -EINTR)
            n = 0;
        else if (n <= 0)
            return n < 0 ? (int)n : -EIO;
    }
    return 0;
}

/* Whether the sandbox allows only write(2) to make a file longer. */
static bool only_appends(void)
{
    return !kernel_allows(SYS_fallocate, 0, 0, 0L, 0L);
}

/* Allocates [offset, offset + size) on disk. */
static int allocate(int fd, off_t offset, size_t size)
{
    long err;

    if (only_appends())
        return append_zeros(fd, offset, size);
    err = kernel_call(SYS_fallocate, fd, 0, offset, (off_t)size);
    if (err != -EOPNOTSUPP && err != -ENOSYS && err != -EINTR)
        return (int)err;
    return write_zeros(fd, offset, size);
}

static struct trace_extent *last_extent(struct trace_writer *w)
{
    return w->nextents ? &w->extents[w->nextents - 1] : NULL;
}

static long map_file(int fd, off_t offset, size_t size)
{
    return kernel_call(SYS_mmap, NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

static int open_again(const struct trace_writer *w)
{
    struct stat st;
    int fd = kernel_open(w->path, O_RDWR | O_NOFOLLOW | (only_appends() ? O_APPEND : 0), 0);

    if (fd < 0)
        return fd;
    if (kernel_fstat(fd, &st) < 0 || st.st_dev != w->dev || st.st_ino != w->ino) {
        kernel_call(SYS_close, fd);
        return -ESTALE;
    }
    return fd;
}

static int allocate_by_path(const struct trace_writer *w, size_t first, size_t size)
{
    int fd, err;

    if (limited(RLIMIT_FSIZE, first + size) < first + size)
        return -EFBIG;
    fd = open_again(w);
    if (fd < 0)
        return fd;
    err = allocate(fd, (off_t)first, size);
    kernel_call(SYS_close, fd);
    return err;
}

/* Unmaps the last extent, which could not be filled. */
static void forget_last(struct trace_writer *w)
{
    struct trace_extent *e = last_extent(w);

    kernel_call(SYS_munmap, e->base, e->mapped);
    w->nextents--;
}

/* Makes `size` more bytes of an extent ready. */
static int fill(const struct trace_writer *w, struct trace_extent *e, size_t size)
{
    int err = (int)kernel_call(SYS_madvise, e->base + e->ready, size, MADV_POPULATE_WRITE);

    if (err == -EFAULT)
        err = -ENOSPC;
    /* An old kernel, or a sandbox. */
    if (err == -EINVAL || err == -EPERM)
        err = allocate_by_path(w, e->first + e->ready, size);
    if (!err)
        e->ready += size;
    return err;
}

static size_t mapped_end(struct trace_writer *w)
{
    const struct trace_extent *last = last_extent(w);

    return last ? last->first + last->mapped : 0;
}

/* Maps a new extent of the file `fd` behind the last, with room for `ready` bytes; where nothing
 * can be mapped ahead, these bytes are allocated. `length`: the file's length, or 0. */
static int map_extent(struct trace_writer *w, int fd, size_t ready, size_t length)
{
    size_t first = mapped_end(w), mapped = ready > AHEAD ? ready : AHEAD;
    uint64_t end = limited(RLIMIT_FSIZE, first + mapped);
    size_t allocated = 0;
    int err;
    long p;

    if (w->nextents == TRACE_WRITER_EXTENTS || end < first + ready)
        return -EFBIG;
    mapped = (size_t)end / TRACE_SEGMENT_SIZE * TRACE_SEGMENT_SIZE;
    mapped = mapped < first + ready ? ready : mapped - first;
    /* The program may need the remaining address space. */
    if (limited(RLIMIT_AS, UINT64_MAX) < UINT64_MAX ||
        (length != first + mapped && kernel_call(SYS_ftruncate, fd, (off_t)(first + mapped)) < 0)) {
        mapped = allocated = ready;
        err = ready ? allocate(fd, (off_t)first, ready) : 0;
        if (err)
            return err;
    }
    p = mapped ? map_file(fd, (off_t)first, mapped) : -ENOMEM;
    if (kernel_failed(p))
        return (int)p;
    /* Without this, at the first store the kernel reads half a MiB of the hole ahead, as zeros. */
    kernel_call(SYS_madvise, p, mapped, MADV_RANDOM);
    w->extents[w->nextents++] = (struct trace_extent){(char *)p, first, mapped, allocated};
    return 0;
}

/* Fills the first bytes of an extent by one write, which is better than page by page: the kernel
 * then takes larger pieces of memory, and half the time. fill() does the rest. */
static void write_ahead(int fd, const struct trace_extent *e, size_t size)
{
    struct iovec pieces[16];
    size_t n = 0;

    if (e->ready || size > sizeof zeros * ARRAY_LEN(pieces))
        return;
    for (size_t left = size; left; left -= pieces[n++].iov_len)
        pieces[n] = (struct iovec){(char *)zeros, left < sizeof zeros ? left : sizeof zeros};
    kernel_call(SYS_pwritev, fd, pieces, n, (long)e->first, 0L);
}

/*
 * Adds an extent of the open file `fd`, which is closed, with `ready` bytes that can be used at
 * once. `length`: the length of a reused file, whose first bytes are mostly filled; or 0. (ext4
 * begins to write a file to the disk when it is first closed after it was truncated; a file for
 * reuse has been closed so already.)
 */
static int add_extent(struct trace_writer *w, int fd, size_t ready, size_t length)
{
    int err = map_extent(w, fd, ready, length);
    struct trace_extent *e = last_extent(w);

    if (!err && ready && !length)
        write_ahead(fd, e, ready);
    kernel_call(SYS_close, fd);
    if (err || e->ready >= ready)
        return err;
    err = fill(w, e, ready);
    if (err)
        forget_last(w);
    return err;
}

static int extend_by_path(struct trace_writer *w, size_t ready)
{
    int fd = open_again(w);

    return fd < 0 ? fd : add_extent(w, fd, ready, 0);
}

static bool (*take_budget)(uint64_t bytes);

void trace_writer_set_budget(bool (*take)(uint64_t bytes))
{
    take_budget = take;
}

static bool is_in_budget(size_t bytes)
{
    return !take_budget || take_budget(bytes);
}

/* How much a file of `have` bytes grows when `need` more are wanted. */
static size_t growth(size_t have, size_t need)
{
    size_t size = have < LARGE_FILE ? have / 2 : have / 8;

    if (size < FIRST_GROWTH)
        size = FIRST_GROWTH;
    if (size > MAX_GROWTH)
        size = MAX_GROWTH;
    return whole_pages(size > need ? size : need);
}

static size_t ready_end(const struct trace_writer *w)
{
    return w->ready;
}

static void set_ready_end(struct trace_writer *w, size_t end)
{
    w->ready = end;
    __atomic_store_n(&w->header->units, (uint32_t)(end / TRACE_UNIT), __ATOMIC_RELEASE);
}

/* The extent with the byte at `at` of the file; NULL: none yet. */
static struct trace_extent *extent_at(struct trace_writer *w, size_t at)
{
    for (size_t i = w->nextents; i-- > 0;)
        if (at >= w->extents[i].first)
            return at < w->extents[i].first + w->extents[i].mapped ? &w->extents[i] : NULL;
    return NULL;
}

/* Makes at least `need` more bytes ready. Called with the lock held. */
static int grow(struct trace_writer *w, size_t need)
{
    size_t have = ready_end(w), size = growth(have, need);
    struct trace_extent *e = extent_at(w, have);
    int err;

    if (have + size > (size_t)UINT32_MAX * TRACE_UNIT)
        return -EFBIG;
    if (e && size > e->mapped - e->ready)
        size = e->mapped - e->ready;
    if (!is_in_budget(size))
        return -EDQUOT;
    err = e ? fill(w, e, size) : extend_by_path(w, size);
    if (!err)
        set_ready_end(w, have + size);
    return err;
}

/* Ends an extent: a segment of type free takes what is left, and the file continues with the
 * next. */
static int leave_gap(struct trace_writer *w, struct trace_extent *e)
{
    struct trace_segment *gap = (struct trace_segment *)(e->base + (w->used - e->first));
    size_t end = e->first + e->mapped;
    int err = ready_end(w) > w->used ? 0 : grow(w, sizeof *gap);

    if (err)
        return err;
    e->ready = e->mapped;
    set_ready_end(w, end);
    gap->type = TRACE_SEG_FREE;
    gap->units = (uint32_t)((end - w->used) / TRACE_UNIT);
    __atomic_store_n(&gap->magic, TRACE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    w->used = end;
    return 0;
}

static bool is_cut(const struct trace_writer *w)
{
    return __atomic_load_n(&w->cut, __ATOMIC_ACQUIRE);
}

/* Takes the next `size` bytes; NULL, with w->error set, when there is no room. Called with the lock
 * held. */
static char *take_room(struct trace_writer *w, size_t size)
{
    int err = 0;

    while (!err && !is_cut(w)) {
        struct trace_extent *e = extent_at(w, w->used);
        size_t end = w->used + size;

        if (e && end > e->first + e->mapped) {
            err = leave_gap(w, e);
        } else if (end > ready_end(w)) {
            err = grow(w, end - ready_end(w));
        } else {
            w->used = end;
            return e->base + (end - size - e->first);
        }
    }
    w->error = err;
    w->full = true;
    return NULL;
}

void trace_writer_reserve(struct trace_writer *w, uint32_t ready, uint32_t mapped)
{
    size_t want_ready = (size_t)ready * TRACE_SEGMENT_SIZE;
    size_t want_mapped = (size_t)mapped * TRACE_SEGMENT_SIZE;

    spinlock_take(&w->lock);
    while (w->header && mapped_end(w) - w->used < want_mapped && extend_by_path(w, 0) == 0)
        ;
    while (w->header && ready_end(w) - w->used < want_ready &&
           grow(w, want_ready - (ready_end(w) - w->used)) == 0)
        ;
    spinlock_drop(&w->lock);
}

/* Clears the writer, except the long arrays: in a forked child, each page that is written to is
 * copied first. */
static void forget(struct trace_writer *w)
{
    memset(w, 0, offsetof(struct trace_writer, extents));
}

/* Begins a trace in the file `fd`, which exists and holds only zeros. Closes `fd`. */
static int begin(struct trace_writer *w, int fd, const struct stat *st,
                 const struct trace_header *init)
{
    size_t size = whole_pages(FIRST_GROWTH);
    struct trace_header *h;
    int err;

    w->dev = st->st_dev;
    w->ino = st->st_ino;
    if (is_in_budget(size)) {
        err = add_extent(w, fd, size, (size_t)st->st_size);
    } else {
        kernel_call(SYS_close, fd);
        err = -EDQUOT;
    }
    if (err) {
        kernel_call(SYS_unlinkat, AT_FDCWD, w->path, 0);
        return err;
    }
    h = (struct trace_header *)w->extents[0].base;
    *h = *init;
    memset(h->magic, 0, sizeof h->magic);
    h->version = TRACE_VERSION;
    h->header_size = sizeof *h;
    h->byte_order = TRACE_BYTE_ORDER;
    h->unit = TRACE_UNIT;
    h->units = (uint32_t)(size / TRACE_UNIT);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(h->magic, TRACE_MAGIC, sizeof h->magic);
    w->header = h;
    w->ready = size;
    w->used = sizeof *h;
    return 0;
}

static int set_writer_path(struct trace_writer *w, const char *path)
{
    size_t len = strlen(path);

    forget(w);
    if (len >= sizeof w->path)
        return -ENAMETOOLONG;
    memcpy(w->path, path, len + 1);
    return 0;
}

int trace_writer_create(struct trace_writer *w, const char *path, const struct trace_header *init)
{
    int fd, err = set_writer_path(w, path);
    struct stat st;

    if (err)
        return err;
    /* O_EXCL never follows a symbolic link in the last component. */
    fd = kernel_open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (fd < 0)
        return fd;
    err = kernel_fstat(fd, &st);
    if (!err)
        return begin(w, fd, &st, init);
    kernel_call(SYS_close, fd);
    kernel_call(SYS_unlinkat, AT_FDCWD, path, 0);
    return err;
}

int trace_writer_adopt(struct trace_writer *w, const char *spare, const char *path,
                       const struct trace_header *init)
{
    int fd, err = set_writer_path(w, path);
    struct stat st;

    if (!err)
        err = (int)kernel_call(SYS_renameat2, AT_FDCWD, spare, AT_FDCWD, path, RENAME_NOREPLACE);
    if (err)
        return err;
    fd = kernel_open(path, O_RDWR | O_NOFOLLOW, 0);
    if (fd >= 0 && kernel_fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1)
        return begin(w, fd, &st, init);
    if (fd >= 0)
        kernel_call(SYS_close, fd);
    kernel_call(SYS_unlinkat, AT_FDCWD, path, 0);
    return -EINVAL;
}

/* The size of a type's segment with this index. */
static size_t segment_size(enum trace_segment_type type, uint32_t index)
{
    static const uint32_t first[] = {
        [TRACE_SEG_META] = 4,
        [TRACE_SEG_NODES] = 8,
        [TRACE_SEG_ROWS] = 2,
        [TRACE_SEG_THREADS] = 1,
    };
    size_t size = TRACE_SEGMENT_SIZE;

    if (index < TRACE_SHORT_SEGMENTS)
        size = (size_t)first[type] * TRACE_UNIT << index;
    return size < TRACE_SEGMENT_SIZE ? size : TRACE_SEGMENT_SIZE;
}

/* Takes a segment of at least `need` bytes, header and all. Called with the lock held. */
static struct trace_segment *take_segment(struct trace_writer *w, enum trace_segment_type type,
                                          uint32_t record_size, size_t need)
{
    struct trace_segment *s;
    size_t size;

    if (!w->header || w->full)
        return NULL;
    size = segment_size(type, w->counts[type]);
    if (size < need)
        size = (need + TRACE_UNIT - 1) / TRACE_UNIT * TRACE_UNIT;
    s = (struct trace_segment *)take_room(w, size);
    if (!s)
        return NULL;
    s->type = type;
    s->index = w->counts[type]++;
    s->record_size = record_size;
    s->units = (uint32_t)(size / TRACE_UNIT);
    __atomic_store_n(&s->magic, TRACE_SEGMENT_MAGIC, __ATOMIC_RELEASE);
    return s;
}

struct trace_segment *trace_writer_segment(struct trace_writer *w, enum trace_segment_type type,
                                           uint32_t record_size)
{
    struct trace_segment *s;

    spinlock_take(&w->lock);
    s = take_segment(w, type, record_size, 0);
    spinlock_drop(&w->lock);
    return s;
}

/* File offset of an address inside the mapping. */
static uint64_t offset_of(const struct trace_writer *w, const char *at)
{
    for (size_t i = 0; i < w->nextents; i++) {
        const struct trace_extent *e = &w->extents[i];

        if (at >= e->base && at < e->base + e->mapped)
            return e->first + (uint64_t)(at - e->base);
    }
    return 0;
}

void *trace_writer_meta(struct trace_writer *w, enum trace_meta_type type, const void *a,
                        size_t alen, const void *b, size_t blen, uint64_t *file_offset)
{
    size_t size = alen + blen, room = sizeof(struct trace_meta) + ((size + 7) & ~(size_t)7);
    struct trace_meta *m = NULL;
    char *payload = NULL;

    if (size > META_MAX || !w->header)
        return NULL;
    spinlock_take(&w->lock);
    if (w->meta_at + room > w->meta_end) {
        struct trace_segment *s = take_segment(w, TRACE_SEG_META, 0, sizeof *s + room);

        if (!s)
            goto out;
        w->meta = (char *)s;
        w->meta_at = sizeof *s;
        w->meta_end = (size_t)s->units * TRACE_UNIT;
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
    spinlock_drop(&w->lock);
    return payload;
}

static bool cover(const struct trace_extent *e)
{
    return !kernel_failed(kernel_call(SYS_mmap, e->base, e->mapped, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1,
                                      0L));
}

bool trace_writer_detach(struct trace_writer *w, const void *at)
{
    size_t n = w->nextents;
    bool held = false;

    for (size_t i = 0; i < n; i++)
        held = held || (uintptr_t)at - (uintptr_t)w->extents[i].base < w->extents[i].mapped;
    if (held) {
        __atomic_store_n(&w->cut, true, __ATOMIC_SEQ_CST);
        w->full = true;
    }
    for (size_t i = 0; held && i < n; i++)
        held = cover(&w->extents[i]);
    return held;
}

void trace_writer_abandon(struct trace_writer *w)
{
    for (size_t i = 0; i < w->nextents; i++)
        kernel_call(SYS_munmap, w->extents[i].base, w->extents[i].mapped);
    forget(w);
}
