/*
 * Problem: a path in /proc/PID/maps is a name in the process's own root, and the file may have been
 * replaced or deleted since it was mapped.
 *
 * Algorithm: open the path below /proc/TID/root and compare device and inode. Some file systems
 * (overlayfs, btrfs) show another device in maps than in stat: then the first bytes must be those
 * that the process has in memory. If that fails, the mapping itself is opened (/proc/TID/map_files,
 * which needs a capability). If that fails too, the tables are copied out of the process's memory,
 * where they are mapped with the rest of the file.
 *
 * Rejected: map_files first. It is exact, but only permitted to some users, and a path that is
 * wrong must be handled in any case.
 */
#define _GNU_SOURCE
#include "tracer/stacks/imagefile.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "common/procpath.h"
#include "common/alloc.h"
#include "common/strbuf.h"

#define KEPT 512

struct imagefile {
    struct image *images[KEPT]; /* the last used one first */
    size_t n;
};

struct imagefile *imagefile_new(void)
{
    return xcalloc(1, sizeof(struct imagefile));
}

void imagefile_free(struct imagefile *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->n; i++)
        image_release(f->images[i]);
    free(f);
}

/* Puts an image in front; drops the last one when there are too many. */
static struct image *keep(struct imagefile *f, struct image *im, size_t from)
{
    if (from == KEPT)
        image_release(f->images[--from]);
    memmove(f->images + 1, f->images, from * sizeof f->images[0]);
    f->images[0] = im;
    return image_share(im);
}

static struct image *known(struct imagefile *f, const struct image_key *key)
{
    for (size_t i = 0; i < f->n; i++)
        if (memcmp(&f->images[i]->key, key, sizeof *key) == 0)
            return keep(f, f->images[i], i);
    return NULL;
}

static struct image *add(struct imagefile *f, struct image *im)
{
    struct image *shared = keep(f, im, f->n);

    if (f->n < KEPT)
        f->n++;
    return shared;
}

/* Whether the file and the mapping begin with the same bytes. */
static bool same_bytes(int fd, const struct imagefile_where *where)
{
    uint8_t file[1024], memory[sizeof file];
    struct iovec ours = {memory, sizeof memory};
    struct iovec theirs = {(void *)where->base, sizeof memory};
    ssize_t n = pread(fd, file, sizeof file, 0);

    return where->base && n >= 64 && process_vm_readv(where->tid, &ours, 1, &theirs, 1, 0) >= n &&
           memcmp(file, memory, (size_t)n) == 0;
}

static int open_checked(const char *path, const struct imagefile_where *where, bool exact,
                        struct stat *st)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return -1;
    if (fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
        (exact || (st->st_ino == where->inode &&
                   (((uint64_t)major(st->st_dev) << 32 | minor(st->st_dev)) == where->device ||
                    same_bytes(fd, where)))))
        return fd;
    close(fd);
    return -1;
}

static int open_mapped(const struct imagefile_where *where, struct stat *st)
{
    struct strbuf path = STRBUF_INIT;
    int fd = -1;

    if (where->path[0] == '/') {
        strbuf_addf(&path, "%s%s", proc_path(where->tid, "root").s, where->path);
        fd = open_checked(path.buf, where, false, st);
    }
    if (fd < 0 && where->inode) {
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/%lx-%lx", proc_path(where->tid, "map_files").s,
                    (unsigned long)where->start, (unsigned long)where->end);
        fd = open_checked(path.buf, where, true, st);
    }
    strbuf_release(&path);
    return fd;
}

/* An image of the same file, read before from another process's memory. Equal build IDs prove that
 * it is the same. */
static struct image *same_build(struct imagefile *f, struct image *im)
{
    for (size_t i = 0; i < f->n && im->build_id_size; i++) {
        struct image *other = f->images[i];

        if (!other->key.size && other->key.device == im->key.device &&
            other->key.inode == im->key.inode && other->build_id_size == im->build_id_size &&
            memcmp(other->build_id, im->build_id, im->build_id_size) == 0) {
            image_release(im);
            return keep(f, other, i);
        }
    }
    return add(f, im);
}

struct image *imagefile_find(struct imagefile *f, const struct imagefile_where *where)
{
    struct image_key key = {where->device, where->inode, 0, 0};
    struct image *im;
    struct stat st;
    int fd = open_mapped(where, &st);

    if (fd < 0) {
        im = where->base ? image_from_memory(where->tid, where->base) : NULL;
        if (!im)
            return NULL;
        im->key = key;
        return same_build(f, im);
    }
    key.size = (uint64_t)st.st_size;
    key.mtime_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    im = known(f, &key);
    if (!im && (im = image_from_file(fd, &key)))
        im = add(f, im);
    close(fd);
    return im;
}
