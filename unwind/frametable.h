/*
 * frametable.h: the .debug_frame or .eh_frame section of a file, as a sorted table that can
 * be searched. (Most files have such a table for .eh_frame, .eh_frame_hdr; static programs
 * have none.)
 *
 * No malloc. Not thread-safe for one table while it is loaded or released. Nothing in
 * the file is trusted.
 */
#ifndef FLAME_UNWIND_FRAMETABLE_H
#define FLAME_UNWIND_FRAMETABLE_H

#include "unwind/cfi.h"

struct frametable {
    struct cfi_section bytes;
    struct frametable_entry *entries; /* sorted by start */
    size_t n;                         /* 0: the file has no such section */
    uintptr_t shift;                  /* .eh_frame: our address less the file's */
    void *pages;
    size_t size; /* of pages */
};

/* Reads it from an open file, which stays the caller's. */
void frametable_load(struct frametable *t, int fd, bool debug_frame);
void frametable_release(struct frametable *t);

/* The rule for an address in the file's terms; RULE_NONE when no entry covers it. */
struct rule frametable_rule(const struct frametable *t, uintptr_t addr);
/* Where the function begins that it belongs to. False: no entry covers it. */
bool frametable_function(const struct frametable *t, uintptr_t addr, uintptr_t *start);

#endif
