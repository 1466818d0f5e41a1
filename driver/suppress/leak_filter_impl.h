/*
 * leak_filter_impl.h: shared by the files of leak_filter.h: the rules and baselines of a run, and
 * the suppressed amounts.
 */
#ifndef FLAME_DRIVER_SUPPRESS_LEAK_FILTER_IMPL_H
#define FLAME_DRIVER_SUPPRESS_LEAK_FILTER_IMPL_H

#include <uthash.h>

#include "driver/suppress/baseline.h"
#include "driver/suppress/leak_filter.h"
#include "driver/suppress/suppress.h"

struct leak_filter_sum {
    uint64_t bytes, blocks;
};

/* Suppressed amount of a program's stack in all its processes, which is still to be subtracted from
 * the sums. */
struct taken_out {
    struct taken_out_key {
        uint64_t stack;
        uint64_t flags;
    } key;
    struct leak_filter_sum left;
    UT_hash_handle hh;
};

struct leak_filter {
    const struct leak_filter_options *o;
    enum leak_filter_kind what;
    struct suppressions *rules;
    struct baseline *known, *now;
    struct leak_filter_sum in_baseline;
    struct taken_out *taken_out;
};

static inline void leak_filter_add(struct leak_filter_sum *to, uint64_t bytes, uint64_t blocks)
{
    to->bytes += bytes;
    to->blocks += blocks;
}

/* The view of a baseline's counts. */
static inline const char *leak_filter_view(const struct leak_filter *h)
{
    static const char *const names[] = {
        [LEAK_FILTER_LEAKS] = "leak", [LEAK_FILTER_LIVE] = "live", [LEAK_FILTER_GROWTH] = "growth"};

    return names[h->what];
}

#endif
