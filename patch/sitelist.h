/*
 * sitelist.h: a few sites of one module in a file, to be patched by a process of a run.
 *
 * flame writes the file (patch/find/) into the directory of the run, which only the user can
 * access. The recorder maps it and uses it if its process has a module with that build-id. Numbers
 * are in this machine's byte order, because the file belongs to the run.
 *
 *     struct sitelist_head
 *     count struct patch_site, by the addresses of their calls
 */
#ifndef FLAME_PATCH_SITELIST_H
#define FLAME_PATCH_SITELIST_H

#include <stddef.h>

#include "patch/site.h"

#define SITELIST_MAGIC "FLMLIST" /* with the NUL: 8 bytes */
#define SITELIST_VERSION 1
#define SITELIST_BUILD_ID_MAX 64

struct sitelist_head {
    char magic[8];
    uint32_t version;
    uint32_t count;
    uint32_t build_id_len; /* not 0 */
    uint32_t reserved;
    uint8_t build_id[SITELIST_BUILD_ID_MAX];
};

_Static_assert(sizeof(struct sitelist_head) == 88, "shared between programs");

/* The list in `size` bytes at `file`, which are aligned to 8. NULL: they are no list, or one of
 * another version. The sites are sound. Pure. */
const struct sitelist_head *sitelist_in(const void *file, size_t size);

static inline const struct patch_site *sitelist_sites(const struct sitelist_head *h)
{
    return (const struct patch_site *)(h + 1);
}

#endif
