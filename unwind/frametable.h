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
    uintptr_t shift;                  /* .eh_frame: address here minus address in the file */
    void *pages;
    size_t size; /* size of the pages */
};

/* Reads the section from an open file, which the caller closes. */
void frametable_load(struct frametable *t, int fd, bool debug_frame);
void frametable_release(struct frametable *t);

/* The rule for an address in the file. RULE_NONE: no entry covers it. */
struct rule frametable_rule(const struct frametable *t, uintptr_t addr);
/* Start of the function that the address belongs to. False: no entry covers it. */
bool frametable_function(const struct frametable *t, uintptr_t addr, uintptr_t *start);

#endif
