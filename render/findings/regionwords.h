/*
 * regionwords.h: what comments in folded text say of the regions that a program marks
 * (fold/facts/regiontext.h, flame-folded(5)), in words.
 */
#ifndef FLAME_RENDER_FINDINGS_REGIONWORDS_H
#define FLAME_RENDER_FINDINGS_REGIONWORDS_H

#include "common/strbuf.h"

/*
 * A line for each region goes to `say`, which borrows it: "region request: 1,204 times, p50 1.2 ms,
 * p95 2 ms, p99 40 ms, max 41 ms; of the slowest 1% of them 83% waiting for futex cache_lock,
 * behind that loader". At most `most` lines. Comments are anybody's: what makes no sense is passed
 * over. Names are as they stand there: any bytes, but no control characters of flame's own text.
 */
void regionwords_say(const struct strbuf *text, size_t most,
                     void (*say)(void *arg, const char *line), void *arg);

#endif
