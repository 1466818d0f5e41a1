/*
 * sitelist.h: a few sites of one module in a file, for a process of a run to patch.
 *
 * flame writes it (patch/find/) into the directory of the run, which is the user's alone; the
 * recorder maps it and works by it where its process has a module of that build-id. Numbers are of
 * this machine: the file goes with the run.
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

/* The list in `size` bytes at `file`, which are aligned to 8, or NULL: they are none, or another
 * version's. The sites are sound. Pure. */
const struct sitelist_head *sitelist_in(const void *file, size_t size);

static inline const struct patch_site *sitelist_sites(const struct sitelist_head *h)
{
    return (const struct patch_site *)(h + 1);
}

#endif
