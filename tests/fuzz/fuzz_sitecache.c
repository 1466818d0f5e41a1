/*
 * Any bytes as a file of the cache of sites: an accepted list must be sound, in order, and of the
 * requested module. The checksum is also made right, as no fuzzer would guess it.
 */
#include <stdlib.h>
#include <zlib.h>

#include "patch/find/sitecache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *data, size_t size, const struct sitecache_head *head)
{
    size_t len = head->build_id_len;
    struct site_list list;
    uint64_t end = 0;

    if (sitecache_parse(&list, data, size, head->build_id, len) != 0) {
        if (list.sites || list.n)
            abort();
        return;
    }
    if (list.build_id_len != len || len > SITES_BUILD_ID_MAX || !len)
        abort();
    for (size_t i = 0; i < list.n; i++) {
        if (!site_is_sound(&list.sites[i]) || list.sites[i].at < end)
            abort();
        end = (uint64_t)list.sites[i].at + list.sites[i].length;
    }
    sites_release(&list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sitecache_head head;
    uint8_t *copy;

    if (size < sizeof head)
        return 0;
    memcpy(&head, data, sizeof head);
    parse(data, size, &head);
    copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    head.checksum = 0;
    memcpy(copy, &head, sizeof head);
    head.checksum = (uint32_t)crc32(crc32(0, NULL, 0), copy, (uInt)size);
    memcpy(copy, &head, sizeof head);
    parse(copy, size, &head);
    free(copy);
    return 0;
}
