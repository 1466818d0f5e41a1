/*
 * regionwords.h: lines for people about the regions that a program marks, from the comments of
 * folded text (fold/analysis/regiontext.h, flame-folded(5)).
 */
#ifndef FLAME_RENDER_FINDINGS_REGIONWORDS_H
#define FLAME_RENDER_FINDINGS_REGIONWORDS_H

#include "common/strbuf.h"

/*
 * Calls `say` with a line for each region, which it borrows: "region request: 1,204 times, p50
 * 1.2 ms, p95 2 ms, p99 40 ms, max 41 ms; of the slowest 1% of them 83% waiting for futex
 * cache_lock, behind that loader". At most `most` lines. The text is outside input: a comment
 * that makes no sense is skipped. Names are passed on unchanged: any bytes, but no control
 * characters of flame's own text.
 */
void regionwords_say(const struct strbuf *text, size_t most,
                     void (*say)(void *arg, const char *line), void *arg);

#endif
