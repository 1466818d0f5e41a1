/*
 * trace_reader.h: loads a trace file.
 *
 * The reader copies the file into memory first, as a recording may still be running and change it.
 * It checks every offset, id, size and parent link once, so that the arrays of struct trace
 * (trace.h) need no checks afterwards.
 *
 * Every error is one message with the file and the offset, never a crash. A trace is freed with
 * trace_free. Not thread-safe for one trace.
 */
#ifndef FLAME_COMMON_TRACE_TRACE_READER_H
#define FLAME_COMMON_TRACE_TRACE_READER_H

#include "common/trace/trace.h"

/*
 * Loads and checks `path` ("-": standard input), which may be that of one of several traces in a
 * file (common/files/trace_file.h). 0, or an enum flame_exit with one line already on
 * standard error (FLAME_USAGE for a bad file, FLAME_FAILED when memory runs out); *out is NULL
 * then.
 */
int trace_load(const char *path, struct trace **out);

/* Like trace_load, for a file that must be a regular one (common/files/plainfile.h), because other
 * users may have put a pipe or device there. */
int trace_load_plain(const char *path, struct trace **out);

/* Like trace_load_plain, without messages. */
int trace_load_quietly(const char *path, struct trace **out);

/* Like trace_load_plain, but refuses links; a short reason without the file's name is appended to
 * `why`. */
int trace_load_or_why(const char *path, struct strbuf *why, struct trace **out);

/* Like trace_load_or_why, and follows links. */
int trace_load_linked_or_why(const char *path, struct strbuf *why, struct trace **out);

/* Whether a file was created as a trace and has no contents yet: its process ended as it began. */
bool trace_has_not_begun(const char *path);

/* Like trace_load, for bytes in memory (tests, fuzzing). `name` is for messages. With quiet nothing
 * is printed. */
int trace_load_bytes(const char *name, const void *data, size_t len, bool quiet,
                     struct trace **out);

/* True when the bytes begin like a trace (any version). */
bool trace_magic_matches(const void *data, size_t len);

/* Reads the header of the file, from the file's beginning, whatever its offset is. False: it is
 * cut, or is not the header of a memory trace which this version can read. */
bool trace_read_header(int fd, struct trace_header *h);

#endif
