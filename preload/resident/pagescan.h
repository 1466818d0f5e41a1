/*
 * pagescan.h: which pages of a mapping are resident or swapped out, and what sort they are.
 *
 * Of /proc/self/pagemap, and of its ioctl PAGEMAP_SCAN (Linux 6.7) what that does not tell: huge
 * pages and the pages of zeros, which the kernel does not count as resident. Read in pieces.
 * Source: Documentation/admin-guide/mm/pagemap.rst, and the kernel itself for what Rss counts.
 */
#ifndef FLAME_PRELOAD_RESIDENT_PAGESCAN_H
#define FLAME_PRELOAD_RESIDENT_PAGESCAN_H

#include "preload/resident/pageindex.h"
#include "preload/resident/smaps.h"

/* The descriptor, which kernel_call's SYS_close ends, or -errno. */
int pagescan_open(void);

/*
 * Adds the pages of `m` to the index, with the number `mapping`, so that those which are resident
 * are what the kernel says of m (rss). How many bytes of that no page was found for (0, but for
 * pages of devices and those that are being moved); all, if memory is short (x->failed).
 */
uint64_t pagescan_add(int fd, const struct smap *m, uint32_t mapping, struct pageindex *x);

/* Touches the memory that these functions use. */
void pagescan_warm_up(void);

/* Whether it is memory of a file that is shared memory by its name. */
bool pagescan_is_shmem(const struct smap *m);

#endif
