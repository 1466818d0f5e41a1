/* Entries of pagemap where pages are larger than its slots, and those of this process. */
#include "preload/shadow/pagemap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/processor/page_size.h"
#include "tests/tap.h"

#define SLOTS 512u

/* Whether each slot has the number of its page, from any slot on and for any number of slots. */
static bool spreads(size_t page)
{
    uint64_t entries[SLOTS];

    for (uintptr_t first = 0; first < 40; first++)
        for (size_t slots = 1; slots <= SLOTS; slots += 37) {
            uintptr_t at = first * PAGEMAP_SLOT;
            size_t pages = (at + slots * PAGEMAP_SLOT - 1) / page - at / page + 1;

            memset(entries, 0xff, sizeof entries);
            for (size_t i = 0; i < pages; i++)
                entries[i] = at / page + i;
            pagemap_spread(entries, at, slots, page);
            for (size_t i = 0; i < slots; i++)
                if (entries[i] != (at + i * PAGEMAP_SLOT) / page)
                    return false;
            for (size_t i = slots > pages ? slots : pages; i < SLOTS; i++)
                if (entries[i] != UINT64_MAX)
                    return false;
        }
    return true;
}

static void test_read(void)
{
    uint64_t entries[SLOTS] = {0};
    size_t n = SLOTS, size = n * PAGEMAP_SLOT, there = 0;
    char *memory = aligned_alloc(65536, size);
    int fd = open("/proc/self/pagemap", O_RDONLY);

    memset(memory, 1, size);
    is_int((intmax_t)pagemap_read(fd, (uintptr_t)memory, n, entries), (intmax_t)n,
           "all slots of memory have entries");
    for (size_t i = 0; i < n; i++)
        there += (entries[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED)) != 0;
    is_int((intmax_t)there, (intmax_t)n, "written memory is there, in each slot");
    is_int((intmax_t)pagemap_read(-1, (uintptr_t)memory, n, entries), 0,
           "without a file nothing is read");
    close(fd);
    free(memory);
}

int main(void)
{
    ok(spreads(4096), "pages of 4 KiB have a slot each");
    ok(spreads(16384), "pages of 16 KiB have four slots");
    ok(spreads(65536), "pages of 64 KiB have sixteen slots");
    test_read();
    return done_testing();
}
