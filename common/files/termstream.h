/*
 * termstream.h: a stream to a terminal that shows what it may be sent (common/termtext.h).
 *
 * Files and pipes get text as it is, names in it included, so that what reads it gets back what was
 * written. On a terminal the same text is for eyes, and names in it come from outside.
 *
 * Not thread-safe for one stream.
 */
#ifndef FLAME_COMMON_FILES_TERMSTREAM_H
#define FLAME_COMMON_FILES_TERMSTREAM_H

#include <stdio.h>

/*
 * `to` itself where it is no terminal. Else a stream in front of it; closing that closes `to`, but
 * for standard output, which is flushed. Ends of lines and tabs stay. `to` as well when memory runs
 * out.
 */
FILE *termstream_open(FILE *to);

#endif
