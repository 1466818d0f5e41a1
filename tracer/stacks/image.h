/*
 * image.h: one mapped file as the walk sees it: its program headers, its unwind tables
 * and the rules made of them so far. Shared by all processes that map the file.
 *
 * The tables are copied out of the file (or, where that is gone, out of a process that
 * has it mapped), laid out as in memory at an address of ours; nothing is mapped, as a
 * file that is cut meanwhile would be a SIGBUS. Addresses here are the file's own
 * (p_vaddr's terms). The bytes come from outside and are not trusted. Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_IMAGE_H
#define FLAME_TRACER_STACKS_IMAGE_H

#include <elf.h>
#include <sys/types.h>

#include "common/env/librarynote.h"
#include "common/trace_format.h"
#include "unwind/frametable.h"
#include "unwind/rules.h"

/* Which file it is. Two files with the same four words are taken to have the same bytes. */
struct image_key {
    uint64_t device, inode, size, mtime_ns;
};

struct image {
    unsigned refs;
    struct image_key key; /* size 0: read from memory */
    uint64_t lo, hi;      /* hull of its segments, whole pages */
    Elf64_Phdr *phdr;
    unsigned phnum;
    /* The segment with the tables, [tables_at, tables_at + tables_size). */
    uint8_t *tables;
    uint64_t tables_at, tables_size;
    uint64_t hdr_at, hdr_size;  /* .eh_frame_hdr; size 0: there is none */
    struct frametable eh_frame; /* where there is no .eh_frame_hdr */
    struct frametable debug_frame;
    struct rules rules; /* by address in the file */
    uint32_t build_id_size;
    uint8_t build_id[TRACE_BUILD_ID_MAX];
    bool keeps_frames;         /* of Go, whose functions all keep frame pointers */
    enum library_note library; /* one of flame's own */
    uint64_t own_lo, own_hi;   /* of the recorder's: its LIBRARY_OWN */
};

/* From an open file. NULL when it is no ELF file of ours. The caller has one reference. */
struct image *image_from_file(int fd, const struct image_key *key);
/* From memory of process `tid`: `base` is where byte 0 of the file is mapped. */
struct image *image_from_memory(pid_t tid, uintptr_t base);
/* From bytes, as image_from_memory: for the fuzz target, whose bytes end where reading beyond
 * them is noticed. */
struct image *image_from_bytes(const uint8_t *bytes, size_t size);
struct image *image_share(struct image *im);
void image_release(struct image *im);

/* Address in memory less address in the file, for a mapping of file offset `offset` at
 * `start`. False: no segment of the file is mapped like that. */
bool image_bias(const struct image *im, uintptr_t start, uint64_t offset, bool exec, bool write,
                uintptr_t *bias);

/* The rule for an address in the file, remembered. RULE_NONE when no table has it. */
static inline packed_rule image_rule(struct image *im, uintptr_t addr)
{
    return rules_find(&im->rules, addr);
}

/* Finds where the function begins that an address in the file belongs to. False: no table of
 * the file covers the address. */
bool image_function(const struct image *im, uintptr_t addr, uintptr_t *start);

/* Bytes of the tables. False: not all of them are there. */
bool image_read(const struct image *im, uint64_t addr, void *to, size_t size);

#endif
