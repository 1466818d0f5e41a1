/*
 * sitecache.h: cache of site lists in files, by the build-id of the module.
 *
 * The list of a library's build is made once, and read from the cache from then on. The files lie
 * in $XDG_CACHE_HOME/flame, or $HOME/.cache/flame, or, if neither can be used, in
 * $TMPDIR/flame-UID. The name of each is the module's build-id in hexadecimal digits and ".sites".
 * The directory must belong to the user, and no other user may be able to write to it. A module
 * without a build-id is not cached. The user may remove the files at any time.
 *
 * Format, all numbers little-endian: struct sitecache_head, then `count` struct patch_site
 * (patch/site.h) by the address of their calls, and nothing behind them. A file is written under
 * another name and renamed, so that it is complete or absent. Nevertheless nothing in it is
 * trusted: sizes, checksum, build-id, each site and their order are checked, and the patcher
 * compares the module's bytes with the site's before it writes.
 *
 * For flame's own processes: allocates. Thread-safe for different lists.
 */
#ifndef FLAME_PATCH_FIND_SITECACHE_H
#define FLAME_PATCH_FIND_SITECACHE_H

#include "common/strbuf.h"
#include "patch/find/find.h"

#define SITECACHE_MAGIC "FLMSITE" /* with the NUL: 8 bytes */
/* Must be raised with each change of the format, and of the sites that the finder finds. */
#define SITECACHE_VERSION 2

struct sitecache_head {
    char magic[8];
    uint32_t version;
    uint32_t head_size; /* of this struct */
    uint32_t site_size; /* of struct patch_site */
    uint32_t count;
    uint32_t build_id_len;
    uint32_t checksum;                    /* zlib's crc32 of the whole file, with this field 0 */
    uint8_t build_id[SITES_BUILD_ID_MAX]; /* zero after build_id_len */
};

_Static_assert(sizeof(struct sitecache_head) == 96, "kept in files");

/*
 * Fills the list for a file, from the cache, or by a search whose result is cached. Returns the
 * same as sites_find_in (find.h); a cache that cannot be read or written is no failure. *cached, if
 * not NULL: whether the list came from the cache.
 */
int sitecache_find_in(struct site_list *list, const char *path, bool *cached);

/* 0; -ENOENT: the file is absent; -EBADMSG: it is damaged, or of another version; other -errno. */
int sitecache_load(struct site_list *list, const uint8_t *build_id, size_t len);

/* 0; -EINVAL: the list has no build-id; other -errno. */
int sitecache_store(const struct site_list *list);

/* sitecache_write appends the file's bytes to `to`. sitecache_parse fills a list from such bytes:
 * 0, or -EBADMSG with an empty list. */
void sitecache_write(const struct site_list *list, struct strbuf *to);
int sitecache_parse(struct site_list *list, const void *bytes, size_t size, const uint8_t *build_id,
                    size_t len);

#endif
