/*
 * pagemap.h: the kernel's interfaces to the pages of a process: the entries of /proc/PID/pagemap,
 * and its ioctl PAGEMAP_SCAN. Linux has the ioctl from 6.7 on; many systems' headers lack it.
 *
 * Source: the kernel's Documentation/admin-guide/mm/pagemap.rst and include/uapi/linux/fs.h.
 */
#ifndef FLAME_PRELOAD_SHADOW_PAGEMAP_H
#define FLAME_PRELOAD_SHADOW_PAGEMAP_H

#include <linux/ioctl.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of an entry. */
#define PAGEMAP_ALONE ((uint64_t)1 << 56) /* only this process has mapped the page */
#define PAGEMAP_FILE ((uint64_t)1 << 61)  /* the page is of a file or of shared memory */
#define PAGEMAP_SWAPPED ((uint64_t)1 << 62)
#define PAGEMAP_PRESENT ((uint64_t)1 << 63)

/* Bytes of a slot, and the smallest pages of a kernel. A larger page has several slots. */
#define PAGEMAP_SLOT 4096u

/*
 * Reads the entries of `slots` slots from the address `at`, a multiple of PAGEMAP_SLOT, with `fd`
 * of a pagemap. The number of slots that have an entry now: fewer at the end of the address space,
 * and 0 if nothing can be read. Any thread, safe in signal handlers.
 */
size_t pagemap_read(int fd, uintptr_t at, size_t slots, uint64_t *entries);

/* Gives each of `slots` slots from `at` on the entry of the page of `page` bytes that it is in. The
 * pages' entries lie at the beginning of `entries`. */
void pagemap_spread(uint64_t *entries, uintptr_t at, size_t slots, size_t page);

/* Record that the ioctl fills for a run of adjacent pages with equal categories. */
struct pagemap_region {
    uint64_t start, end, categories;
};

struct pagemap_scan {
    uint64_t size, flags;
    uint64_t start, end, walk_end;    /* in: range to walk; out: end of the walk */
    uint64_t vec, vec_len, max_pages; /* regions; 0: no limit */
    uint64_t inverted, mask, anyof;   /* of categories: filter for the wanted pages */
    uint64_t reported;                /* categories that the regions report */
};

_Static_assert(sizeof(struct pagemap_scan) == 96, "as the kernel has it");

#define PAGEMAP_SCAN_CALL _IOWR('f', 16, struct pagemap_scan)

/* Categories. */
#define PAGEMAP_SCAN_PRESENT ((uint64_t)1 << 3)
#define PAGEMAP_SCAN_SWAPPED ((uint64_t)1 << 4)
#define PAGEMAP_SCAN_ZERO ((uint64_t)1 << 5) /* the page of zeros */
#define PAGEMAP_SCAN_HUGE ((uint64_t)1 << 6)

#endif
