/*
 * find.h: finds the system calls in a module's file.
 *
 * The code is decoded instruction by instruction, as by a disassembler. Decoding restarts at each
 * function in .eh_frame_hdr, so data between two functions does not disturb the functions after it.
 * The targets of jumps are known for the whole module before any site is judged.
 *
 * For flame's own processes: allocates (common/alloc.h). Nothing in the file is trusted. Not
 * thread-safe for one list.
 */
#ifndef FLAME_PATCH_FIND_FIND_H
#define FLAME_PATCH_FIND_FIND_H

#include "patch/site.h"

#define SITES_BUILD_ID_MAX 64

/* Length of the longest list: files with more sites are refused with -E2BIG. */
#define SITES_MAX 65536

struct site_list {
    struct patch_site *sites; /* by address of the call; owned */
    size_t n;
    uint8_t build_id[SITES_BUILD_ID_MAX];
    size_t build_id_len; /* 0: the file has none */
    /* Amount of code that was searched; 0 in a list that comes from the cache. */
    size_t code_bytes, instructions;
    size_t unreadable; /* number of bytes at which no instruction begins, skipped one by one */
};

/* Fills an empty list from a file's bytes, which are borrowed for the call. 0; -ENOEXEC: it is no
 * ELF file with code for a supported machine; -E2BIG. After a failure the list is empty. */
int sites_find(struct site_list *list, const void *file, size_t size);

/* Like sites_find, but opens and reads the file, and may return -errno of that. -EINVAL: it is no
 * regular file. */
int sites_find_in(struct site_list *list, const char *path);

/* Stores the build-id of a file's bytes, at most SITES_BUILD_ID_MAX bytes of it, in `id`. Returns
 * its length, or 0. sites_find puts the same into the list. */
size_t sites_build_id(const void *file, size_t size, uint8_t id[SITES_BUILD_ID_MAX]);

void sites_release(struct site_list *list);

#endif
