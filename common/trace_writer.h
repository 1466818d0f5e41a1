/*
 * trace_writer.h: a trace file being written, from inside the recorded program
 * or beside it.
 *
 * The file is a shared mapping, so every store is in the file at once and
 * survives the process. Space is allocated before it is mapped: a full disk is
 * an error code here and never a SIGBUS in the program. No descriptor is kept:
 * growing opens the path again and checks that it is still the same file.
 *
 * No function here calls malloc. trace_writer_segment and trace_writer_meta may
 * be called by several threads; create and abandon not. Failures are -errno or
 * NULL; a writer that failed to grow once does not try again (`full`).
 */
#ifndef FLAME_COMMON_TRACE_WRITER_H
#define FLAME_COMMON_TRACE_WRITER_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/leaflock.h"
#include "common/trace_format.h"

#define TRACE_WRITER_PATH_MAX 4096
#define TRACE_WRITER_EXTENTS 4096

struct trace_writer {
    struct trace_header *header; /* segment 0; NULL when there is no file */
    struct leaflock lock;
    bool full; /* growing failed; `error` says why */
    int error;
    dev_t dev;
    ino_t ino;
    char *spare; /* allocated and mapped segments not handed out yet */
    size_t spares;
    uint32_t counts[8]; /* segments handed out of each type */
    char *meta;         /* metadata segment being filled */
    size_t meta_at, meta_end;
    struct { /* what is mapped, to unmap it in a forked child */
        void *base;
        size_t size;
    } extents[TRACE_WRITER_EXTENTS];
    size_t nextents;
    char path[TRACE_WRITER_PATH_MAX]; /* absolute */
};

/*
 * Creates the file (which must not exist; -EEXIST) with mode 0600 and the header
 * filled in from `init` but for the fields the writer owns (magic, sizes,
 * segments). The first extent holds `initial_segments` segments, at least 1.
 * `path` must be absolute.
 */
int trace_writer_create(struct trace_writer *w, const char *path, const struct trace_header *init,
                        uint32_t initial_segments);

/*
 * A new segment of `type`, zeroed behind its header; *index is its number among
 * that type. NULL when the file cannot grow.
 */
void *trace_writer_segment(struct trace_writer *w, enum trace_segment_type type,
                           uint32_t record_size, uint32_t *index);

/*
 * Appends a metadata record made of two pieces of bytes. Returns where its
 * payload lies in memory, or NULL; *file_offset (may be NULL) is where the
 * record lies in the file. A payload over 32 KiB is refused.
 */
void *trace_writer_meta(struct trace_writer *w, enum trace_meta_type type, const void *a,
                        size_t alen, const void *b, size_t blen, uint64_t *file_offset);

/* Unmaps everything and forgets the file, which stays as it is: for a forked
 * child, whose mappings are still its parent's file. */
void trace_writer_abandon(struct trace_writer *w);

#endif
