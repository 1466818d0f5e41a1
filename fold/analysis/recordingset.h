/*
 * recordingset.h: the files of one recording. `flame mem -o app.flame` writes a trace for each
 * program; each holds the recording's number, its own place among the files, and their number
 * (TRACE_META_RECORDING). The name of the first file stands for all of them.
 */
#ifndef FLAME_FOLD_ANALYSIS_RECORDINGSET_H
#define FLAME_FOLD_ANALYSIS_RECORDINGSET_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace_format.h"

struct recordingset {
    char **paths; /* owned, as they are */
    size_t n;
};

/*
 * Lists the files of `paths` (borrowed), with the others of a recording behind its first. They
 * are sought beside it, by its name: app.2.flame, app.3.flame... A file that is also among
 * `paths` is listed once; a file of another recording, such as an earlier run, is left out. A
 * line reports how many are missing. A path that is no trace, or a trace alone, stays as it is;
 * an unreadable file is left for the reader to report. Release the result.
 */
void recordingset_find(struct recordingset *s, char *const *paths, size_t n);
void recordingset_release(struct recordingset *s);

/* The name of the i-th file (from 0) of the recording whose first is at `path`, which ends in
 * ".flame". The caller frees it. */
char *recordingset_name(const char *path, size_t i);

/* The recording to which the trace at `path` belongs. False: the trace stands alone, or is no
 * trace. */
bool recordingset_of(const char *path, struct trace_fileset *r);

/* Whether two traces are different files of one recording. */
bool recordingset_are_of_one(const char *a, const char *b);

/* A new number of a recording. */
struct trace_fileset recordingset_new(uint32_t files);

/* Appends a segment of metadata that holds `r`, the `metas`-th (from 0) of its file. */
void recordingset_segment(struct strbuf *out, const struct trace_fileset *r, uint32_t metas);

#endif
