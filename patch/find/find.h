/*
 * find.h: finds the system calls in a module's file.
 *
 * The code is taken apart instruction by instruction, as a disassembler does, beginning afresh at
 * each function that .eh_frame_hdr knows, so that data between two functions costs nothing behind
 * it. The targets of jumps are known for the whole module before any site is judged.
 *
 * For flame's own processes: allocates (common/alloc.h). Nothing in the file is trusted. Not
 * thread-safe for one list.
 */
#ifndef FLAME_PATCH_FIND_FIND_H
#define FLAME_PATCH_FIND_FIND_H

#include "patch/site.h"

#define SITES_BUILD_ID_MAX 64

/* The longest list: files with more sites are refused with -E2BIG. */
#define SITES_MAX 65536

struct site_list {
    struct patch_site *sites; /* by address of the call; owned */
    size_t n;
    uint8_t build_id[SITES_BUILD_ID_MAX];
    size_t build_id_len; /* 0: the file has none */
    /* Amount of code that was searched; 0 in a list that comes from the cache. */
    size_t code_bytes, instructions;
    size_t unreadable; /* bytes at which no instruction begins, passed over one by one */
};

/* Fills an empty list from a file's bytes, which are borrowed for the call. 0; -ENOEXEC: it is no
 * ELF file with code for a known machine; -E2BIG. After a failure the list is empty. */
int sites_find(struct site_list *list, const void *file, size_t size);

/* Like sites_find, for a file that is opened and read; -errno of that, too. -EINVAL: no regular
 * file. */
int sites_find_in(struct site_list *list, const char *path);

/* The build-id of a file's bytes, up to SITES_BUILD_ID_MAX bytes of it in `id`: its length, or 0.
 * sites_find puts the same into the list. */
size_t sites_build_id(const void *file, size_t size, uint8_t id[SITES_BUILD_ID_MAX]);

void sites_release(struct site_list *list);

#endif
