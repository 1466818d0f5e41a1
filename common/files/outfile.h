/*
 * outfile.h: output that is whole or not there.
 *
 * Writes go to a file beside the target ("NAME.tmpXXXXXX"), which outfile_commit
 * renames over it; outfile_abort removes it. With path NULL or "-" the output is
 * standard output and only the stream's own errors count. A target that exists
 * and is not a regular file (a pipe, /dev/stdout, a terminal) is opened and
 * written in place, as renaming over it would destroy it; opening a pipe waits for its
 * reader. Where it is a terminal, names in it are shown by termstream.h. A pipe of somebody else's
 * in a directory where all may make one is refused.
 *
 * Not thread-safe for one outfile. Functions that can fail return 0 or -errno.
 */
#ifndef FLAME_COMMON_FILES_OUTFILE_H
#define FLAME_COMMON_FILES_OUTFILE_H

#include <stdio.h>

#include "common/compiler.h"

struct outfile {
    FILE *f;     /* write here; NULL when not open */
    char *path;  /* what the user asked for, NULL for standard output */
    char *aside; /* the temporary name, NULL when written in place */
};

int outfile_open(struct outfile *out, const char *path);
/* Without opening it: 1, what has that name is to be written in place, and may be; 0, it is a
 * regular file, or none; or -errno (FLAME_OTHERS_PIPE). */
int outfile_check_special(const char *path);
/* Flushes, checks every earlier write, renames. The outfile is closed either way. */
int outfile_commit(struct outfile *out);
void outfile_abort(struct outfile *out);

/*
 * What stands behind the last dot of a file's name if it looks like an ending: up to five
 * letters and digits, a letter first, or a longer one that some command of flame gives a
 * meaning to ("folded", "callgrind"). NULL: nothing does, and so for mktemp's names, whose
 * six and more letters stand for nothing. Borrowed from path.
 */
const char *outfile_ending(const char *path);

#endif
