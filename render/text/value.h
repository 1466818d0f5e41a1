/*
 * value.h: counts as people read them: "1,572,864", "1.50 MiB", "2.31 s".
 *
 * Units are known by name: "bytes" counts in powers of 1024, "nanoseconds",
 * "microseconds", "milliseconds" and "seconds" (or ns, us, ms, s) as time; every
 * other name is only put behind the number. Pure functions, thread-safe.
 */
#ifndef FLAME_RENDER_TEXT_VALUE_H
#define FLAME_RENDER_TEXT_VALUE_H

#include "common/folded.h"

/* 0 to 3 for nano-, micro-, milli- and whole seconds; -1 if the unit is none of time. */
int value_time_unit(const char *unit);

/* The digits, in groups of three ("1,572,864") or not; a fraction with at most six. */
void value_add_number(struct strbuf *sb, struct folded_count c, bool grouped);

/* At most two decimals ("12.5", "-3"); |v| < 1e15. */
void value_add_fixed2(struct strbuf *sb, double v);

/* True, and appends "1.50 MiB", when the unit has a shorter form that is clearer than the
 * digits. */
bool value_add_human(struct strbuf *sb, struct folded_count c, const char *unit);

/* "1.50 MiB, 1,572,864 bytes" or "1,234 calls". `unit` may hold any bytes. */
void value_add_both(struct strbuf *sb, struct folded_count c, const char *unit);

/* "1 block", "1,234 blocks": the number and the word that goes with it. */
void value_add_counted(struct strbuf *sb, uint64_t n, const char *one, const char *many);

/* "1.50 MiB, 1,572,864 bytes in 12 blocks". */
void value_add_blocks(struct strbuf *sb, uint64_t bytes, uint64_t blocks);

/* part of whole as "12.34%", both >= 0; 0 when whole is 0. */
void value_add_percent(struct strbuf *sb, double part, double whole);

#endif
