/*
 * trace_file.h: an open trace. It is a file, or one of several traces in a file (struct
 * trace_list). Those have paths below that of their file, with their number from 1: app.flame/2 is
 * the second trace in app.flame. No other file can have such a path, as app.flame is no directory.
 *
 * Nothing in the file is trusted: offsets, sizes and the number of traces are checked whenever one
 * is opened. Functions are thread-safe and print nothing.
 */
#ifndef FLAME_COMMON_FILES_TRACE_FILE_H
#define FLAME_COMMON_FILES_TRACE_FILE_H

#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "common/trace_format.h"

/* The list at the end of a file of several traces is cut or damaged, or the place that it has for
 * this trace is. */
#define TRACE_FILE_DAMAGED (-EBADMSG)

struct trace_file {
    int fd;
    bool is_part;  /* one of several in the file */
    uint64_t at;   /* offset of the trace in the file; 0 of a trace alone */
    uint64_t size; /* bytes from there on; UINT64_MAX of a trace alone, which may still grow */
};

/*
 * Opens the trace at `path`, in a regular file (common/files/plainfile.h). `flags`: O_NOFOLLOW to
 * refuse links, or 0. 0, or an error of plainfile_open, or TRACE_FILE_DAMAGED. The caller closes
 * f->fd.
 */
int trace_file_open(const char *path, int flags, struct trace_file *f);

/* Reads `size` bytes at the offset `at` of the trace. False: they are not all there. */
bool trace_file_read(const struct trace_file *f, uint64_t at, void *to, size_t size);

/* Size of the trace or other file at `path`, as it is opened; 0: not known. */
uint64_t trace_file_size(const char *path);

/* Like trace_read_header (trace_reader.h). */
bool trace_file_header(const struct trace_file *f, struct trace_header *h);

/* The number of traces in the file at `path` if it has several, else 0. 0 or TRACE_FILE_DAMAGED,
 * with *n as the header has it. */
int trace_file_count(const char *path, uint32_t *n);

/* Whether `path` is that of one of several traces in a file, though its place may be damaged. */
bool trace_file_is_part(const char *path);

/* The file of such a path, and the number in it, or NULL if the path has no such form. No file is
 * opened. The caller frees the result. */
char *trace_file_split(const char *path, uint32_t *number);

/* Bytes that a list of `traces` places takes at the end of a file. */
static inline uint64_t trace_list_size(uint32_t traces)
{
    uint64_t size = sizeof(struct trace_list) + (uint64_t)traces * sizeof(struct trace_place);

    return (size + TRACE_UNIT - 1) / TRACE_UNIT * TRACE_UNIT;
}

/*
 * Whether `used` bytes are said to be in use, and far fewer are on the disk: such a file is a trap
 * for its readers. A trace has a hole in each segment that is not full, of which there are a few of
 * each kind. False where the file system does not report what is on the disk.
 */
bool trace_file_is_hollow(const struct stat *st, uint64_t used);

/* Text of an error for a message. */
const char *trace_file_why(int err);

/* Reports that `path` cannot be opened, like flame_cannot_read, and of a number that the file has
 * no trace of which there are. Returns FLAME_USAGE. */
int trace_file_cannot_read(const char *path, int err);

#endif
