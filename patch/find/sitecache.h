/*
 * sitecache.h: site lists that were found before, kept in files by the build-id of their module.
 *
 * A list is found once a build of a library and read from then on. The files lie in
 * $XDG_CACHE_HOME/flame, or $HOME/.cache/flame, or, where neither can be used,
 * $TMPDIR/flame-UID; each is named by the module's build-id in hexadecimal digits and ".sites".
 * The directory must belong to the user and be writable by nobody else, or it is not used. A module
 * without a build-id is not kept. Whoever does not want the files may remove them at any time.
 *
 * Format, all numbers little-endian: struct sitecache_head, then `count` struct patch_site
 * (patch/site.h) by the address of their calls, and nothing behind them. A file is written aside
 * and renamed, so that it is whole or not there. In spite of that nothing in it is believed:
 * sizes, checksum, build-id, each site by itself and their order are checked, and the patcher
 * compares the module's bytes with the site's before it writes.
 *
 * For flame's own processes: allocates. Thread-safe for different lists.
 */
#ifndef FLAME_PATCH_FIND_SITECACHE_H
#define FLAME_PATCH_FIND_SITECACHE_H

#include "common/strbuf.h"
#include "patch/find/find.h"

#define SITECACHE_MAGIC "FLMSITE" /* with the NUL: 8 bytes */
/* Goes up with the format, and with every change of what the finder finds. */
#define SITECACHE_VERSION 2

struct sitecache_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size; /* of this struct */
    uint32_t site_size; /* of struct patch_site */
    uint32_t count;
    uint32_t build_id_len;
    uint32_t checksum;                    /* zlib's crc32 of the whole file, with this field 0 */
    uint8_t build_id[SITES_BUILD_ID_MAX]; /* zero behind build_id_len */
};

_Static_assert(sizeof(struct sitecache_head) == 96, "kept in files");

/*
 * The list of a file: from the cache, or found and put there. As sites_find_in (find.h); that the
 * cache cannot be read or written is no failure. *cached, if not NULL: it was there.
 */
int sitecache_find_in(struct site_list *list, const char *path, bool *cached);

/* 0; -ENOENT: there is none; -EBADMSG: what is there is damaged, or of another version;
 * other -errno. */
int sitecache_load(struct site_list *list, const uint8_t *build_id, size_t len);

/* 0; -EINVAL: the list has no build-id; other -errno. */
int sitecache_store(const struct site_list *list);

/* The file's bytes, appended; and a list from such bytes: 0, or -EBADMSG with an empty list. */
void sitecache_write(const struct site_list *list, struct strbuf *to);
int sitecache_parse(struct site_list *list, const void *bytes, size_t size, const uint8_t *build_id,
                    size_t len);

#endif
