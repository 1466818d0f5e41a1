#define _GNU_SOURCE
#include "patch/find/sitecache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "common/files/outfile.h"

/* Number of bytes of a file that contain its headers and notes in linkers' usual layout. */
#define HEAD_BYTES 65536

static uint32_t checksum_of(const struct sitecache_head *head, const void *sites, size_t size)
{
    struct sitecache_head zeroed = *head;
    uLong sum;

    zeroed.checksum = 0;
    sum = crc32(crc32(0, NULL, 0), (const Bytef *)&zeroed, sizeof zeroed);
    /* crc32 without a buffer restarts the sum. */
    return (uint32_t)(size ? crc32(sum, sites, (uInt)size) : sum);
}

void sitecache_write(const struct site_list *list, struct strbuf *to)
{
    struct sitecache_head head = {.magic = SITECACHE_MAGIC,
                                  .version = SITECACHE_VERSION,
                                  .head_size = sizeof head,
                                  .site_size = sizeof *list->sites,
                                  .count = (uint32_t)list->n,
                                  .build_id_len = (uint32_t)list->build_id_len};
    size_t size = list->n * sizeof *list->sites;

    memcpy(head.build_id, list->build_id, list->build_id_len);
    head.checksum = checksum_of(&head, list->sites, size);
    strbuf_add(to, &head, sizeof head);
    strbuf_add(to, list->sites, size);
}

static bool head_fits(const struct sitecache_head *h, size_t size, const uint8_t *id, size_t len)
{
    if (memcmp(h->magic, SITECACHE_MAGIC, sizeof h->magic) != 0 ||
        h->version != SITECACHE_VERSION || h->head_size != sizeof *h ||
        h->site_size != sizeof(struct patch_site) || h->count > SITES_MAX ||
        size != sizeof *h + h->count * sizeof(struct patch_site) || h->build_id_len != len ||
        memcmp(h->build_id, id, len) != 0)
        return false;
    for (size_t i = len; i < sizeof h->build_id; i++)
        if (h->build_id[i])
            return false;
    return true;
}

int sitecache_parse(struct site_list *list, const void *bytes, size_t size, const uint8_t *build_id,
                    size_t len)
{
    const uint8_t *sites = (const uint8_t *)bytes + sizeof(struct sitecache_head);
    struct sitecache_head head;

    memset(list, 0, sizeof *list);
    if (size < sizeof head || !len || len > SITES_BUILD_ID_MAX)
        return -EBADMSG;
    memcpy(&head, bytes, sizeof head);
    if (!head_fits(&head, size, build_id, len) ||
        head.checksum != checksum_of(&head, sites, size - sizeof head))
        return -EBADMSG;
    list->n = head.count;
    list->sites = xcalloc(list->n + 1, sizeof *list->sites);
    memcpy(list->sites, sites, size - sizeof head);
    memcpy(list->build_id, build_id, len);
    list->build_id_len = len;
    if (sites_are_sound(list->sites, list->n))
        return 0;
    sites_release(list);
    return -EBADMSG;
}

/* Makes the directory if it is absent. 0, or -errno; -EPERM: it belongs to another user, or others
 * can write to it. */
static int use_directory(const char *path)
{
    struct stat st;

    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return -errno;
    if (lstat(path, &st) < 0)
        return -errno;
    if (!S_ISDIR(st.st_mode))
        return -ENOTDIR;
    return st.st_uid != geteuid() || st.st_mode & (S_IWGRP | S_IWOTH) ? -EPERM : 0;
}

/* Value of a variable with an absolute path, or NULL. */
static const char *path_in(const char *variable)
{
    const char *value = getenv(variable);

    return value && value[0] == '/' ? value : NULL;
}

/* Finds the cache's directory; `dir` is empty at first. */
static int find_directory(struct strbuf *dir)
{
    const char *base = path_in("XDG_CACHE_HOME"), *home = path_in("HOME");

    if (base)
        strbuf_addstr(dir, base);
    else if (home)
        strbuf_addf(dir, "%s/.cache", home);
    if (dir->len) {
        mkdir(dir->buf, 0700);
        strbuf_addstr(dir, "/flame");
        if (use_directory(dir->buf) == 0)
            return 0;
    }
    base = path_in("TMPDIR");
    strbuf_clear(dir);
    strbuf_addf(dir, "%s/flame-%u", base ? base : "/tmp", (unsigned)geteuid());
    return use_directory(dir->buf);
}

static int find_path(struct strbuf *path, const uint8_t *build_id, size_t len)
{
    int err = find_directory(path);

    if (err)
        return err;
    strbuf_addch(path, '/');
    for (size_t i = 0; i < len; i++)
        strbuf_addf(path, "%02x", build_id[i]);
    strbuf_addstr(path, ".sites");
    return 0;
}

/* Opens a regular file for reading. Returns a descriptor, or -errno. */
static int open_regular(const char *path, int flags)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags), err = -errno;
    struct stat st;

    if (fd < 0)
        return err;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}

int sitecache_load(struct site_list *list, const uint8_t *build_id, size_t len)
{
    struct strbuf path = STRBUF_INIT, bytes = STRBUF_INIT;
    int err = find_path(&path, build_id, len), fd;

    memset(list, 0, sizeof *list);
    if (!err) {
        fd = open_regular(path.buf, O_NOFOLLOW);
        err = fd < 0 ? fd : strbuf_read_fd(&bytes, fd);
        if (fd >= 0)
            close(fd);
    }
    if (!err)
        err = sitecache_parse(list, bytes.buf, bytes.len, build_id, len);
    strbuf_release(&path);
    strbuf_release(&bytes);
    return err;
}

int sitecache_store(const struct site_list *list)
{
    struct strbuf path = STRBUF_INIT, bytes = STRBUF_INIT;
    struct outfile out;
    int err = list->build_id_len ? find_path(&path, list->build_id, list->build_id_len) : -EINVAL;

    if (!err)
        err = outfile_open(&out, path.buf);
    if (!err) {
        sitecache_write(list, &bytes);
        fwrite(bytes.buf, 1, bytes.len, out.f);
        err = outfile_commit(&out);
    }
    strbuf_release(&path);
    strbuf_release(&bytes);
    return err;
}

/* Reads a file's build-id without reading the whole file. Returns its length, or 0. */
static size_t build_id_in(const char *path, uint8_t id[SITES_BUILD_ID_MAX])
{
    int fd = open_regular(path, 0);
    uint8_t *head;
    size_t len = 0;
    ssize_t n;

    if (fd < 0)
        return 0;
    head = xmalloc(HEAD_BYTES);
    n = pread(fd, head, HEAD_BYTES, 0);
    if (n > 0)
        len = sites_build_id(head, (size_t)n, id);
    free(head);
    close(fd);
    return len;
}

int sitecache_find_in(struct site_list *list, const char *path, bool *cached)
{
    uint8_t id[SITES_BUILD_ID_MAX];
    size_t len = build_id_in(path, id);
    bool was_there = len && sitecache_load(list, id, len) == 0;
    int err = 0;

    if (!was_there) {
        err = sites_find_in(list, path);
        if (!err && list->build_id_len)
            sitecache_store(list);
    }
    if (cached)
        *cached = was_there;
    return err;
}
