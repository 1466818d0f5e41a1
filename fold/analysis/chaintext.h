/*
 * chaintext.h: the links of split waits (chainsplit.h) as numbers in folded text, from which a page
 * computes the chains of a part of the time.
 */
#ifndef FLAME_FOLD_ANALYSIS_CHAINTEXT_H
#define FLAME_FOLD_ANALYSIS_CHAINTEXT_H

#include "common/strbuf.h"
#include "fold/analysis/chainsplit.h"

/* A trace, and the numbers that the text has for its rows, threads and links: by id, the number
 * plus one; 0: it has none. */
struct chaintext_trace {
    const struct chainsplit *split; /* NULL: no wait of the trace has links */
    const uint32_t *row, *thread;
    uint32_t *link; /* chaintext_number sets it; for the caller to free */
};

/* Numbers the links of the rows that are in the text, from `first` on; returns the next number. */
uint32_t chaintext_number(struct chaintext_trace *t, uint32_t first);

/* Appends the line; see flame-folded(5). `zero_ns` is the text's time 0. */
void chaintext_add(struct strbuf *sb, const struct chaintext_trace *traces, size_t ntraces,
                   uint32_t nrows, uint32_t nthreads, uint64_t zero_ns);

#endif
