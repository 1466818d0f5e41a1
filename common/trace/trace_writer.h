/*
 * trace_writer.h: a trace file being written, from inside the recorded program
 * or beside it.
 *
 * The file is a shared mapping, so every store is in the file at once and survives the process.
 * Space is allocated before it is used: a full disk is an error code here and never a SIGBUS in the
 * program. No descriptor remains open: some MiB are mapped ahead, as a hole that is filled when the
 * file grows; growing further opens the path again and checks that it is still the same file.
 *
 * No function here calls malloc. trace_writer_segment and trace_writer_meta may
 * be called by several threads; create and abandon not. Failures are -errno or
 * NULL; a writer that failed to grow once does not try again (`full`).
 */
#ifndef FLAME_COMMON_TRACE_TRACE_WRITER_H
#define FLAME_COMMON_TRACE_TRACE_WRITER_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/spinlock.h"
#include "common/trace_format.h"

#define TRACE_WRITER_PATH_MAX 4096
#define TRACE_WRITER_EXTENTS 4096

struct trace_writer {
    struct trace_header *header; /* NULL when there is no file */
    struct spinlock lock;
    bool full; /* growing failed; `error` says why */
    bool cut; /* the file was cut short and is not mapped any more: the memory in its place may read
                 as zero at any time */
    int error;
    dev_t dev;
    ino_t ino;
    size_t ready; /* usable bytes of the file; not read from the header again, which a program may
                     overwrite */
    size_t used;  /* bytes of the file handed out */
    uint32_t counts[8]; /* segments handed out of each type */
    char *meta;         /* metadata segment being filled */
    size_t meta_at, meta_end;
    size_t nextents;
    struct trace_extent { /* mapped ranges, in the file's order */
        char *base;
        size_t first;         /* offset in the file */
        size_t mapped, ready; /* bytes; those that are not ready are a hole */
    } extents[TRACE_WRITER_EXTENTS];
    char path[TRACE_WRITER_PATH_MAX]; /* absolute */
};

/*
 * Creates the file (which must not exist; -EEXIST) with mode 0600 and the header
 * filled in from `init` but for the fields the writer owns (magic, sizes). It takes
 * 16 KiB of the disk, or a page where that is more. `path` must be absolute.
 */
int trace_writer_create(struct trace_writer *w, const char *path, const struct trace_header *init);

/*
 * Like trace_writer_create, with a file that exists, is all zeros, if it has a length, and is
 * called `spare`: it is renamed to `path`. -EEXIST when that name is taken; -ENOENT when there is
 * no such file; another error when the file is not suitable, and then it is removed.
 */
int trace_writer_adopt(struct trace_writer *w, const char *spare, const char *path,
                       const struct trace_header *init);

/* Sets the function that is called before a trace grows by so many bytes, the first ones included;
 * if it returns false, the trace does not grow (-EDQUOT). For all writers of the process; NULL:
 * none. */
void trace_writer_set_budget(bool (*take)(uint64_t bytes));

/* Adds a segment of `type`, zeroed behind its header, which says how long it is. NULL when the file
 * cannot grow. */
struct trace_segment *trace_writer_segment(struct trace_writer *w, enum trace_segment_type type,
                                           uint32_t record_size);

/* Number of records that fit into a segment, including those its header takes. */
static inline uint32_t trace_segment_records(const struct trace_segment *s)
{
    return s->units * TRACE_UNIT / s->record_size;
}

/*
 * Appends a metadata record made of two pieces of bytes. Returns its payload's address in memory,
 * or NULL; *file_offset (may be NULL) is the record's offset in the file. A payload over 32 KiB is
 * refused.
 */
void *trace_writer_meta(struct trace_writer *w, enum trace_meta_type type, const void *a,
                        size_t alen, const void *b, size_t blen, uint64_t *file_offset);

/*
 * Prepares, as far as possible now, that `ready` more segments of TRACE_SEGMENT_SIZE can be handed
 * out without any system call, and `mapped` without opening the file: for a program that is about
 * to give up the right to such calls.
 */
void trace_writer_reserve(struct trace_writer *w, uint32_t ready, uint32_t mapped);

/*
 * If `at` lies in the file's mapping: gives the file up, puts anonymous memory in the place of all
 * of it, and returns true. For a file that another process has cut short; also in a signal handler
 * that interrupted any function here. `full` and `cut` are set before that, so that code which
 * finds the memory replaced can read the reason.
 */
bool trace_writer_detach(struct trace_writer *w, const void *at);

/* Unmaps everything and clears the writer; the file does not change: for a forked child, whose
 * mappings are still its parent's file. */
void trace_writer_abandon(struct trace_writer *w);

#endif
