/*
 * recordingset.h: the traces of one recording. `flame mem -o app.flame` writes a trace for each
 * program, all of them into one file (common/files/trace_file.h); `flame run` adds one of waiting.
 * Or each is a file, which holds the recording's number, its own place among the files, and their
 * number (TRACE_META_RECORDING); then the name of the first file stands for all of them.
 */
#ifndef FLAME_FOLD_ANALYSIS_RECORDINGSET_H
#define FLAME_FOLD_ANALYSIS_RECORDINGSET_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace_format.h"

struct recordingset {
    char **paths; /* owned, as they are */
    size_t n;
    size_t missing; /* traces that are known to be of the recordings and are not there, at least */
    uint32_t recorder; /* the requested one */
    int *fds;          /* files in memory that some of the paths lead to */
    size_t nfds;
};

/* Which traces of a file are listed that has traces of memory and of waiting. If it has none of the
 * requested recorder, all are listed. Files of one kind, and traces that are named by their number,
 * are listed whichever recorder is requested. */
#define RECORDINGSET_ALL 0u
#define RECORDINGSET_FIRST                                                                         \
    (~0u) /* those of the first trace's recorder; else an enum trace_recorder */

/*
 * Lists the traces of `paths` (borrowed). A file of several is replaced by them: app.flame/1,
 * app.flame/2... If it is packed, or standard input from a file, these are below /proc/self/fd. Of
 * a recording of several files the others follow the first. They are sought beside it, by its name:
 * app.2.flame, app.3.flame... A file that is also among `paths` is listed once; a file of another
 * recording, such as an earlier run, is left out. A line reports how many are missing, or that a
 * list of traces is damaged. A path that is no trace, or a trace alone, stays as it is; an
 * unreadable file or trace is left for the reader to report. Release the result.
 */
void recordingset_find(struct recordingset *s, char *const *paths, size_t n, uint32_t recorder);
void recordingset_release(struct recordingset *s);

/* The name of the i-th file (from 0) of the recording whose first is at `path`, which ends in
 * ".flame". The caller frees it. */
char *recordingset_name(const char *path, size_t i);

/* The recording to which the trace at `path` belongs. False: the trace stands alone, or is no
 * trace. */
bool recordingset_of(const char *path, struct trace_fileset *r);

/* The recorder of the trace at `path`, or of the first of several; 0: not known. */
uint32_t recordingset_recorder(const char *path);

/* Whether two traces are different files of one recording. */
bool recordingset_are_of_one(const char *a, const char *b);

/* A new number of a recording. */
struct trace_fileset recordingset_new(uint32_t files);

/* Appends a segment of metadata that holds `r`, the `metas`-th (from 0) of its file. */
void recordingset_segment(struct strbuf *out, const struct trace_fileset *r, uint32_t metas);

#endif
