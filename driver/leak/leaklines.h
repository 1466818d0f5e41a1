/*
 * leaklines.h: leaks for people, a line each on standard error.
 */
#ifndef FLAME_DRIVER_LEAK_LEAKLINES_H
#define FLAME_DRIVER_LEAK_LEAKLINES_H

#include "common/strbuf.h"
#include "driver/leak/leaklist.h"

/*
 * Prints the `most` largest leaks that count, largest first: bytes, blocks, class, the frame
 * leak_place chooses, thread and process. What several threads or processes lost in one
 * stack is one line. A line says how many there are besides.
 */
void leak_lines_print(const struct leak_list *l, size_t most);

/* Appends "function file:line", as far as that is known; the file as leak_source_path has it. */
void leak_add_place(struct strbuf *sb, const struct leak_frame *f);

/* The file's path as somebody in the present directory would write it: without that
 * directory if it lies below it. Borrowed from the frame. NULL: not known. */
const char *leak_source_path(const struct leak_frame *f);

/* Appends "thread T of P 123", or "3 processes" and their like if n is not 1. */
void leak_add_owner(struct strbuf *sb, const struct leak *leak, size_t nthreads, size_t nprocesses);

#endif
