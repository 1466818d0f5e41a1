/*
 * misuselines.h: misuses of the allocator for people.
 */
#ifndef FLAME_DRIVER_LEAK_MISUSELINES_H
#define FLAME_DRIVER_LEAK_MISUSELINES_H

#include "common/strbuf.h"
#include "driver/leak/misuselist.h"

/* Appends "double free of 40 bytes: function file:line (thread T of P 123)". */
void misuse_add_line(struct strbuf *sb, const struct misuse *m);

/* Appends "allocated at function file:line", "freed at ... by thread T", "inside a block of 40
 * bytes...", one after another with `between`; nothing if nothing is known. */
void misuse_add_more(struct strbuf *sb, const struct misuse *m, const char *between);

/* The frame that represents the stack; NULL: not known. */
const struct leak_frame *misuse_place(const struct misuse *m, enum misuse_stack which);

/* A number that is equal in all runs while the stacks' functions and files do not change. */
uint64_t misuse_fingerprint(const struct misuse *m);

/* Prints the sum, and the first `most` misuses with all known facts. */
void misuse_lines_print(const struct misuse_list *l, size_t most);

#endif
