/*
 * termstream.h: a stream to a terminal that writes only what termtext.h allows (common/termtext.h).
 *
 * Files and pipes get text as it is, names included, so that their reader gets back what was
 * written. On a terminal the text is read by people, and names in it come from outside.
 *
 * Not thread-safe for one stream.
 */
#ifndef FLAME_COMMON_FILES_TERMSTREAM_H
#define FLAME_COMMON_FILES_TERMSTREAM_H

#include <stdio.h>

/*
 * Returns `to` itself if it is no terminal. Else a stream in front of it; closing that closes `to`,
 * except standard output, which is flushed. Newlines and tabs are not escaped. Returns `to` as well
 * when memory runs out.
 */
FILE *termstream_open(FILE *to);

#endif
