#include "preload/shadow/pagemap.h"

#include <sys/syscall.h>

#include "common/kernel.h"
#include "common/processor/page_size.h"

void pagemap_spread(uint64_t *entries, uintptr_t at, size_t slots, size_t page)
{
    /* Backwards, as the pages' entries lie at the beginning. */
    for (size_t i = slots; i-- > 0;)
        entries[i] = entries[(at + i * PAGEMAP_SLOT) / page - at / page];
}

size_t pagemap_read(int fd, uintptr_t at, size_t slots, uint64_t *entries)
{
    uintptr_t first = at / page_size(), end = at + slots * PAGEMAP_SLOT;
    size_t bytes = (whole_pages(end) / page_size() - first) * sizeof *entries;
    long got = kernel_call(SYS_pread64, fd, entries, bytes, first * sizeof *entries);

    if (got < (long)sizeof *entries)
        return 0;
    if (got < (long)bytes)
        slots = ((first + (size_t)got / sizeof *entries) * page_size() - at) / PAGEMAP_SLOT;
    if (page_size() > PAGEMAP_SLOT)
        pagemap_spread(entries, at, slots, page_size());
    return slots;
}
