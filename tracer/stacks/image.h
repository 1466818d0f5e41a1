/*
 * image.h: one mapped file as the walk sees it: its program headers, its unwind tables and the
 * rules made of them so far. Shared by all processes that map the file.
 *
 * The tables are copied out of the file (or, where that was deleted, out of a process that has it
 * mapped), laid out as in memory at an address of ours. No file is mapped, because a file that is
 * truncated meanwhile would cause a SIGBUS. Addresses here are the file's own (as p_vaddr). The
 * bytes come from outside and are not trusted. Not thread-safe.
 */
#ifndef FLAME_TRACER_STACKS_IMAGE_H
#define FLAME_TRACER_STACKS_IMAGE_H

#include <elf.h>
#include <sys/types.h>

#include "common/env/librarynote.h"
#include "common/trace_format.h"
#include "unwind/frametable.h"
#include "unwind/rules.h"

/* Identity of a file. Two files with the same four words are taken to have the same bytes. */
struct image_key {
    uint64_t device, inode, size, mtime_ns;
};

/* Addresses in the file of what a Python interpreter in it defines; runtime 0: it has none. */
struct image_python {
    uint64_t runtime; /* _PyRuntime */
    uint64_t version; /* Py_Version; 0: it is older than 3.11 */
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
    struct frametable eh_frame; /* used where there is no .eh_frame_hdr */
    struct frametable debug_frame;
    struct rules rules; /* by address in the file */
    uint32_t build_id_size;
    uint8_t build_id[TRACE_BUILD_ID_MAX];
    bool keeps_frames; /* a Go file, whose functions all keep frame pointers */
    struct image_python python;
    enum library_note library; /* whether it is a library of flame */
    uint64_t own_lo, own_hi;   /* the recorder's: its LIBRARY_OWN */
};

/* Reads an open file. NULL when it is no ELF file of this machine. The caller has one reference. */
struct image *image_from_file(int fd, const struct image_key *key);
/* Reads memory of process `tid`: `base` is the address of byte 0 of the file. */
struct image *image_from_memory(pid_t tid, uintptr_t base);
/* Like image_from_memory, from bytes: for the fuzz target, whose bytes end where a read beyond them
 * is detected. */
struct image *image_from_bytes(const uint8_t *bytes, size_t size);
struct image *image_share(struct image *im);
void image_release(struct image *im);

/* Address in memory less address in the file, for a mapping of file offset `offset` at
 * `start`. False: no segment of the file is mapped like that. */
bool image_bias(const struct image *im, uintptr_t start, uint64_t offset, bool exec, bool write,
                uintptr_t *bias);

/* The cached rule for an address in the file. RULE_NONE when no table has one. */
static inline packed_rule image_rule(struct image *im, uintptr_t addr)
{
    return rules_find(&im->rules, addr);
}

/* Finds the start of the function that an address in the file belongs to. False: no table of the
 * file covers the address. */
bool image_function(const struct image *im, uintptr_t addr, uintptr_t *start);

/* Reads bytes of the tables. False: not all of them exist. */
bool image_read(const struct image *im, uint64_t addr, void *to, size_t size);

#endif
