/*
 * recordingset.h: the files of one recording. `flame mem -o app.flame` writes a trace for each
 * program; each says of which recording it is, which of its files, and of how many
 * (TRACE_META_RECORDING). Who names the first means all of them.
 */
#ifndef FLAME_FOLD_FACTS_RECORDINGSET_H
#define FLAME_FOLD_FACTS_RECORDINGSET_H

#include <stdbool.h>

#include "common/strbuf.h"
#include "common/trace_format.h"

struct recordingset {
    char **paths; /* owned, as they are */
    size_t n;
};

/*
 * The files of `paths` (borrowed), with the others of a recording behind its first. They are looked
 * for beside it, by its name: app.2.flame, app.3.flame... One that is among `paths` anyhow is not
 * there twice; one that is of another recording, as of an earlier run, is left out. How many are
 * missing is said in a line. What is no trace, or is one alone, stays as it is, and what cannot be
 * read is for the reader to tell. Release it.
 */
void recordingset_find(struct recordingset *s, char *const *paths, size_t n);
void recordingset_release(struct recordingset *s);

/* The name of the i-th file (from 0) of the recording whose first is at `path`, which ends in
 * ".flame". The caller frees it. */
char *recordingset_name(const char *path, size_t i);

/* Of which recording the trace at `path` is. False: it is alone, or none. */
bool recordingset_of(const char *path, struct trace_fileset *r);

/* Whether two traces are different files of one recording. */
bool recordingset_are_of_one(const char *a, const char *b);

/* A new number of a recording. */
struct trace_fileset recordingset_new(uint32_t files);

/* Appends a segment of metadata that says so, the `metas`-th (from 0) of its file. */
void recordingset_segment(struct strbuf *out, const struct trace_fileset *r, uint32_t metas);

#endif
