/*
 * outfile.h: output files that appear whole or not at all.
 *
 * Writes go to a file beside the target ("NAME.tmpXXXXXX", or "flame.tmpXXXXXX" for a long name),
 * which outfile_commit renames over it; outfile_abort removes it, and so does a signal that ends
 * the process (tempfile.h). With path NULL or "-" the output is standard output and only the
 * stream's own errors count. A target that exists and is not a regular file (a pipe, /dev/stdout, a
 * terminal) is opened and written in place, as renaming over it would destroy it; opening a pipe
 * waits for its reader. On a terminal, names are shown by termstream.h. Another user's pipe in a
 * directory where all may create files is refused.
 *
 * Not thread-safe for one outfile. Functions that can fail return 0 or -errno.
 */
#ifndef FLAME_COMMON_FILES_OUTFILE_H
#define FLAME_COMMON_FILES_OUTFILE_H

#include <stdio.h>

#include "common/compiler.h"

struct outfile {
    FILE *f;     /* write here; NULL when not open */
    char *path;  /* the file, without links; NULL for standard output */
    char *aside; /* the temporary name, NULL when written in place */
};

int outfile_open(struct outfile *out, const char *path);
/* Checks `path` without opening it. 1: it exists, is written in place, and may be written; 0: it is
 * a regular file, or does not exist; or -errno (FLAME_OTHERS_PIPE). */
int outfile_check_special(const char *path);
/* Flushes, checks every earlier write, renames. The outfile is closed either way. */
int outfile_commit(struct outfile *out);
void outfile_abort(struct outfile *out);

/*
 * Ending of a file's name: the text behind the last dot. It has up to five letters and digits, a
 * letter first, or is a longer word that some command of flame knows ("folded", "callgrind"). NULL:
 * the name has no such ending; mktemp's names have none, because their six and more letters mean
 * nothing. Borrowed from path.
 */
const char *outfile_ending(const char *path);

#endif
