/*
 * pagescan.h: finds the resident and swapped pages of a mapping, and their kind.
 *
 * It reads /proc/PID/pagemap. The ioctl PAGEMAP_SCAN (Linux 6.7) adds facts that the file lacks:
 * huge pages, and the zero pages, which the kernel does not count as resident. Both are read in
 * pieces. Source: Documentation/admin-guide/mm/pagemap.rst, and the kernel itself for what Rss
 * counts.
 */
#ifndef FLAME_PRELOAD_RESIDENT_PAGESCAN_H
#define FLAME_PRELOAD_RESIDENT_PAGESCAN_H

#include "preload/resident/pageindex.h"
#include "preload/resident/smaps.h"

/* Opens the pagemap of a process, or of PROC_THREAD_SELF (common/procpath.h). Returns a descriptor,
 * to be closed with kernel_call's SYS_close, or -errno. */
int pagescan_open(int pid);

/*
 * Adds the pages of `m` to the index, with the number `mapping`, so that the resident ones add up
 * to the kernel's figure for m (rss). Returns the number of bytes for which no page was found. That
 * is 0, except for pages of devices and pages that are being moved; it is all bytes if memory has
 * run out (x->failed).
 */
uint64_t pagescan_add(int fd, const struct smap *m, uint32_t mapping, struct pageindex *x);

/* Touches the memory that these functions use. */
void pagescan_warm_up(void);

/* Whether the mapping is of a file that is shared memory by its name. */
bool pagescan_is_shmem(const struct smap *m);

#endif
