#include "patch/sitelist.h"

#include <string.h>

const struct sitelist_head *sitelist_in(const void *file, size_t size)
{
    const struct sitelist_head *h = file;

    if (size < sizeof *h || memcmp(h->magic, SITELIST_MAGIC, sizeof h->magic) != 0 ||
        h->version != SITELIST_VERSION || !h->build_id_len ||
        h->build_id_len > SITELIST_BUILD_ID_MAX ||
        h->count != (size - sizeof *h) / sizeof(struct patch_site) ||
        (size - sizeof *h) % sizeof(struct patch_site))
        return NULL;
    return sites_are_sound(sitelist_sites(h), h->count) ? h : NULL;
}
