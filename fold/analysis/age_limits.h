/*
 * age_limits.h: the limits of young and old blocks for the views of lifetimes, and their options.
 *
 * View short counts the blocks that were freed when they were younger than a limit; view old
 * counts those that live at the end and are at least as old as one. Traces record lifetimes in
 * classes (common/trace/lifeclass.h), so a limit is a bound of a class: then both views are
 * exact.
 */
#ifndef FLAME_FOLD_ANALYSIS_AGE_LIMITS_H
#define FLAME_FOLD_ANALYSIS_AGE_LIMITS_H

#include "common/options/opts.h"
#include "common/trace/lifeclass.h"
#include "common/trace/trace_reader.h"

/* A limit, for each of the two clocks that measure lifetimes. */
struct age_limit {
    uint32_t time, bytes; /* the class that begins there; 0: the default */
};

struct age_limits {
    struct age_limit young, old;
};

#define AGES_SHORT_TIME 1000000u            /* 1 ms */
#define AGES_SHORT_BYTES (64u << 10)        /* 64 KiB */
#define AGES_OLD_TIME 1000000000u           /* 1 s */
#define AGES_OLD_BYTES ((uint64_t)64 << 20) /* 64 MiB */

/* The options --short and --old, for opts_command.tables; they set a struct age_limits. */
extern const struct opts_row age_rows[];

/* Whether the trace has its lifetimes and ages in bytes; false, too, if it has neither. */
bool age_limits_in_bytes(const struct trace *t);

/* Appends " limit=1ms" for the views short and old, by the limits in use; nothing for other
 * views. */
void age_limits_add_limit(struct strbuf *sb, const char *view, bool in_bytes);

/* Whether the limits fit the trace: a limit in units of time needs a trace with that clock, and one
 * in bytes a trace with the other. FLAME_OK, or FLAME_USAGE after a line. */
int age_limits_fit(const struct age_limits *ages, const struct trace *t);

/* A row's bytes in blocks that died young, and in blocks that are old. */
int64_t age_limits_short(const struct trace *t, const struct trace_row *r);
int64_t age_limits_old(const struct trace *t, const struct trace_row *r);

/* A row's bytes in blocks of one size class, and of one class of lifetimes or, at the end, of
 * ages. age_limits_add_class appends the frame of a class (TRACE_NODE_CLASS): "[33 to 64 bytes]".
 */
int64_t age_limits_sizes(const struct trace *t, const struct trace_row *r);
int64_t age_limits_lifetimes(const struct trace *t, const struct trace_row *r);
void age_limits_add_class(struct strbuf *sb, uint64_t number);

/* Appends the greatest value in a class as people read it, "2ms", "64k", "512"; for the last
 * class "over " and its least value. */
void age_limits_add_end(struct strbuf *sb, enum histogram of, uint32_t class);

/* Sets the limits that age_limits_short and age_limits_old apply from now on; NULL, or before the
 * first call: the defaults. One fold at a time may use them, like all of fold. */
void age_limits_use(const struct age_limits *ages);

#endif
