/*
 * ages.h: what the views of lifetimes take for young and for old, and the options that say so.
 *
 * View short is of the blocks that were freed when they were younger than a limit, view old of
 * those that live at the end and are as old as one or older. Traces know lifetimes by classes
 * (common/trace/lifeclass.h), so a limit is a bound of one: then both are exact.
 */
#ifndef FLAME_FOLD_FACTS_AGES_H
#define FLAME_FOLD_FACTS_AGES_H

#include "common/options/opts.h"
#include "common/trace/lifeclass.h"
#include "common/trace/trace_reader.h"

/* A limit, for each of the clocks that lifetimes may be told by. */
struct age_limit {
    uint32_t time, bytes; /* the class that begins there; 0: the default */
};

struct ages {
    struct age_limit young, old;
};

#define AGES_SHORT_TIME 1000000u            /* 1 ms */
#define AGES_SHORT_BYTES (64u << 10)        /* 64 KiB */
#define AGES_OLD_TIME 1000000000u           /* 1 s */
#define AGES_OLD_BYTES ((uint64_t)64 << 20) /* 64 MiB */

/* --short and --old, for opts_command.tables; of a struct ages. */
extern const struct opts_row age_rows[];

/* Whether the trace's lifetimes and ages are told in bytes; if it has neither: in time. */
bool ages_in_bytes(const struct trace *t);

/* Appends " limit=1ms" for the views short and old, by the limits in use, and nothing for others.
 */
void ages_add_limit(struct strbuf *sb, const char *view, bool in_bytes);

/* Whether the limits can be told of the trace: a limit that was given as a time needs a trace with
 * that clock, one in bytes the other. FLAME_OK, or FLAME_USAGE after a line. */
int ages_fit(const struct ages *ages, const struct trace *t);

/* What a row counts of blocks that died young, and of those that are old, in bytes. */
int64_t ages_short(const struct trace *t, const struct trace_row *r);
int64_t ages_old(const struct trace *t, const struct trace_row *r);

/* What a row counts of blocks of one size, and of those of one lifetime or, at the end, of one age:
 * in bytes. And the frame that tells the class (TRACE_NODE_CLASS): "[33 to 64 bytes]". */
int64_t ages_sizes(const struct trace *t, const struct trace_row *r);
int64_t ages_lifetimes(const struct trace *t, const struct trace_row *r);
void ages_add_class(struct strbuf *sb, uint64_t number);

/* Appends the greatest value in a class as people read it, "2ms", "64k", "512"; of the last one
 * "over " and the least. */
void ages_add_end(struct strbuf *sb, enum histogram of, uint32_t class);

/* The limits that the two go by from now on; NULL, or before: the defaults. For one fold at a
 * time, as all of fold. */
void ages_use(const struct ages *ages);

#endif
