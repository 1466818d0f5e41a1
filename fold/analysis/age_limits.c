#include "fold/analysis/age_limits.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "common/error.h"
#include "common/trace/lifeclass.h"
#include "common/options/values.h"

static struct age_limits limits;

/* ---- the options ---- */

/* Appends the bound of a class: "5ms", "64 KiB". */
static void add_amount(struct strbuf *sb, uint64_t n, bool bytes)
{
    static const char *const times[] = {"us", "ms", "s"};
    static const char sizes[] = "kmg";
    size_t unit = 0;

    if (bytes) {
        for (n >>= 10; n >= 1024 && sizes[unit + 1]; unit++)
            n >>= 10;
        strbuf_addf(sb, "%" PRIu64 "%c", n, sizes[unit]);
        return;
    }
    for (n /= 1000; n >= 1000 && unit + 1 < ARRAY_LEN(times); unit++)
        n /= 1000;
    strbuf_addf(sb, "%" PRIu64 "%s", n, times[unit]);
}

/* Sets the limit of the clock whose unit the value has. */
static int take_limit(void *at, const struct opts_row *row FLAME_UNUSED,
                      const struct opts_given *given)
{
    struct age_limit *limit = at;
    size_t len = strlen(given->value);
    bool bytes = len && strchr("kKmMgG", given->value[len - 1]);
    enum histogram of = bytes ? HISTOGRAM_LIFETIMES_BYTES : HISTOGRAM_LIFETIMES;
    struct strbuf near = STRBUF_INIT;
    uint64_t value, below, above;
    uint32_t class;
    int status;

    if (!len || (!bytes && given->value[len - 1] != 's') ||
        !(bytes ? opts_parse_bytes(given->value, &value)
                : opts_parse_time(given->value, 1, &value)))
        return opts_wrong_value(given, "a time such as 500us, 20ms or 1s, or bytes such as 64k");
    class = lifeclass_from(of, value, &below, &above);
    if (class != LIFECLASS_UNKNOWN) {
        *(bytes ? &limit->bytes : &limit->time) = class;
        return 0;
    }
    add_amount(&near, below, bytes);
    if (above != below) {
        strbuf_addstr(&near, " or ");
        add_amount(&near, above, bytes);
    }
    status = opts_wrong_value(
        given,
        bytes ? "a power of two from 1k on, as lifetimes are counted in classes: %s"
              : "1, 2 or 5 and zeros, from 1us on, as lifetimes are counted in classes: %s",
        near.buf);
    strbuf_release(&near);
    return status;
}

#define AT(member) offsetof(struct age_limits, member)

const struct opts_row age_rows[] = {
    {"short", .arg = "AGE",
     .help = "what --view short takes for young: freed within this time (1ms), or, of a recording "
             "by allocated bytes, before so many were allocated (64k)",
     .take = take_limit, .at = AT(young)},
    {"old", .arg = "AGE",
     .help = "what --view old takes for old: live at the end for this time or longer (1s), or for "
             "so many allocated bytes (64m)",
     .take = take_limit, .at = AT(old)},
    {0},
};

/* ---- the views ---- */

void age_limits_use(const struct age_limits *ages)
{
    limits = ages ? *ages : (struct age_limits){.young = {0, 0}};
}

static uint32_t limit_of(const struct age_limit *limit, bool bytes, uint64_t time_default,
                         uint64_t bytes_default)
{
    if (bytes)
        return limit->bytes ? limit->bytes : lifeclass_bytes(bytes_default);
    return limit->time ? limit->time : lifeclass_time(time_default);
}

/* Whether a row counts blocks of a class of such a histogram, which then is *of and *class. */
static bool is_class(const struct trace *t, const struct trace_row *r,
                     bool (*wanted)(enum histogram of), enum histogram *of, uint32_t *class)
{
    const struct trace_node *n = r->flags & TRACE_ROW_CLASS ? &t->nodes[r->node] : NULL;

    if (!n || n->kind != TRACE_NODE_CLASS)
        return false;
    *of = lifeclass_of(n->addr);
    *class = lifeclass_class(n->addr);
    return wanted(*of);
}

int64_t age_limits_short(const struct trace *t, const struct trace_row *r)
{
    enum histogram of;
    uint32_t class;

    if (!is_class(t, r, lifeclass_is_lifetimes, &of, &class) ||
        class >= limit_of(&limits.young, lifeclass_in_bytes(of), AGES_SHORT_TIME, AGES_SHORT_BYTES))
        return 0;
    return (int64_t)r->alloc_bytes;
}

int64_t age_limits_old(const struct trace *t, const struct trace_row *r)
{
    enum histogram of;
    uint32_t class;

    if (!is_class(t, r, lifeclass_is_ages, &of, &class) || class == LIFECLASS_UNKNOWN ||
        class < limit_of(&limits.old, lifeclass_in_bytes(of), AGES_OLD_TIME, AGES_OLD_BYTES))
        return 0;
    return (int64_t)r->alloc_bytes;
}

static bool is_sizes(enum histogram of)
{
    return of == HISTOGRAM_SIZES;
}

static bool is_not_sizes(enum histogram of)
{
    return of != HISTOGRAM_SIZES;
}

int64_t age_limits_sizes(const struct trace *t, const struct trace_row *r)
{
    enum histogram of;
    uint32_t class;

    return is_class(t, r, is_sizes, &of, &class) ? (int64_t)r->alloc_bytes : 0;
}

int64_t age_limits_lifetimes(const struct trace *t, const struct trace_row *r)
{
    enum histogram of;
    uint32_t class;

    return is_class(t, r, is_not_sizes, &of, &class) ? (int64_t)r->alloc_bytes : 0;
}

void age_limits_add_class(struct strbuf *sb, uint64_t number)
{
    enum histogram of = lifeclass_of(number);
    bool bytes = lifeclass_in_bytes(of);
    uint64_t from, to;

    lifeclass_bounds(of, lifeclass_class(number), &from, &to);
    strbuf_addstr(sb, lifeclass_is_ages(of) ? "[live: " : "[");
    if (!to)
        strbuf_addstr(sb, "no birth known");
    else if (of == HISTOGRAM_SIZES && to == UINT64_MAX)
        strbuf_addf(sb, "%" PRIu64 " bytes and more", from);
    else if (of == HISTOGRAM_SIZES)
        strbuf_addf(sb, "%" PRIu64 " to %" PRIu64 " bytes", from, to);
    else if (!from)
        strbuf_addstr(sb, bytes ? "under 1k" : "under 1us");
    else
        add_amount(sb, from, bytes);
    if (of != HISTOGRAM_SIZES && from && to == UINT64_MAX)
        strbuf_addstr(sb, " and more");
    else if (of != HISTOGRAM_SIZES && from) {
        strbuf_addstr(sb, " to ");
        add_amount(sb, to + 1, bytes);
    }
    strbuf_addch(sb, ']');
}

void age_limits_add_end(struct strbuf *sb, enum histogram of, uint32_t class)
{
    uint64_t from, to;

    lifeclass_bounds(of, class, &from, &to);
    if (to == UINT64_MAX)
        strbuf_addstr(sb, "over ");
    if (of == HISTOGRAM_SIZES && to < 1024)
        strbuf_addf(sb, "%" PRIu64, to);
    else if (of == HISTOGRAM_SIZES)
        add_amount(sb, to == UINT64_MAX ? from - 1 : to, true);
    else
        add_amount(sb, to == UINT64_MAX ? from : to + 1, lifeclass_in_bytes(of));
}

void age_limits_add_limit(struct strbuf *sb, const char *view, bool in_bytes)
{
    bool young = strcmp(view, "short") == 0;
    enum histogram of = in_bytes ? HISTOGRAM_LIFETIMES_BYTES : HISTOGRAM_LIFETIMES;
    uint64_t from, to;
    uint32_t class;

    if (!young && strcmp(view, "old") != 0)
        return;
    class = young ? limit_of(&limits.young, in_bytes, AGES_SHORT_TIME, AGES_SHORT_BYTES)
                  : limit_of(&limits.old, in_bytes, AGES_OLD_TIME, AGES_OLD_BYTES);
    lifeclass_bounds(of, class, &from, &to);
    strbuf_addstr(sb, " limit=");
    add_amount(sb, from, in_bytes);
}

/* ---- limits that fit a trace ---- */

static int check(const char *name, const struct age_limit *limit, const struct trace *t, bool bytes)
{
    if (bytes ? limit->bytes || !limit->time : limit->time || !limit->bytes)
        return FLAME_OK;
    return flame_error(FLAME_USAGE, "%s: lifetimes were recorded %s; give --%s as %s", t->path,
                       bytes ? "by allocated bytes" : "by time", name,
                       bytes ? "bytes (64k, say)" : "a time (1ms, say)");
}

bool age_limits_in_bytes(const struct trace *t)
{
    for (uint32_t id = 0; id < t->node_limit; id++)
        if (t->nodes[id].kind == TRACE_NODE_CLASS &&
            lifeclass_of(t->nodes[id].addr) != HISTOGRAM_SIZES)
            return lifeclass_in_bytes(lifeclass_of(t->nodes[id].addr));
    return false;
}

int age_limits_fit(const struct age_limits *ages, const struct trace *t)
{
    bool bytes, given = ages->young.time || ages->young.bytes || ages->old.time || ages->old.bytes;
    int status;

    if (!given || t->header.recorder != TRACE_RECORDER_MEM ||
        !(t->header.features & (TRACE_FEATURE_LIFETIMES | TRACE_FEATURE_AGES)))
        return FLAME_OK;
    bytes = age_limits_in_bytes(t);
    status = check("short", &ages->young, t, bytes);
    return status ? status : check("old", &ages->old, t, bytes);
}
