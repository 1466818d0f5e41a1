/*
 * frametable.h: the .debug_frame section of a file, as a table to be searched.
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
};

/* Reads it from an open file, which stays the caller's. */
void frametable_load(struct frametable *t, int fd);
void frametable_release(struct frametable *t);

/* The rule for an address in the file's terms; RULE_NONE when no entry covers it. */
struct rule frametable_rule(const struct frametable *t, uintptr_t addr);

#endif
