/*
 * decimal.h: the exact value of a number as JSON and other texts have it, with sign, fraction and
 * exponent ("-12", "0.125", "5.1e-06"), and its way into a count.
 *
 * A value is a whole number of 10^-18ths, as counts have them, so that differences and sums of
 * times lose nothing; digits beyond that are dropped. Pure functions, thread-safe.
 */
#ifndef FLAME_FOLD_STACKS_DECIMAL_H
#define FLAME_FOLD_STACKS_DECIMAL_H

#include "fold/stacks/span.h"
#include "fold/stacks/stackset.h"

__extension__ typedef __int128 decimal;

/* False: the text is no number, or its value is not within +-1.7 * 10^20; *out is 0 then. */
bool decimal_parse(struct span text, decimal *out);
/* Times `by`, or over it if that is negative: 1000 and -1000 change units. False: too large. */
bool decimal_scale(decimal *value, int64_t by);
/* A value that is not negative, as a count. A value beyond all counts becomes the largest. */
struct stackset_count decimal_count(decimal value);

#endif
