/*
 * Two bounds are computed, and the smaller one counts. The walk skips the selected waits on the
 * path; the bounds for things are computed like this, and no other bound may be above them. The
 * replay has all chains of threads.
 */
#include "fold/analysis/whatif.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/analysis/offrow.h"
#include "fold/analysis/retime.h"
#include "fold/stacks/place.h"

#define STEPS_MAX 20000000ull /* of one selection's replays: more ranges have the walk's bound */

/* ---- rules ---- */

static bool parse_part(const char *s, double *part)
{
    char *end;

    /* strtod knows signs, exponents and other bases, too. */
    if (!*s || s[strspn(s, "0123456789.")])
        return false;
    *part = strtod(s, &end);
    return !*end && *part >= 0 && *part <= 1;
}

int whatif_take(void *at, const struct opts_row *row, const struct opts_given *given)
{
    const char *equals = strrchr(given->value, '=');
    struct whatif_rules *rules = at;
    struct whatif_rule rule = {.text = given->value};
    struct strbuf why = STRBUF_INIT;
    char *regex;

    (void)row;
    if (!equals || equals == given->value || !parse_part(equals + 1, &rule.part))
        return opts_wrong_value(given,
                                "REGEX=PART, what remains of each such wait, from 0 to 1, such "
                                "as 'futex=0' or 'fsync=0.5'");
    if (rules->n == WHATIF_RULES_MAX)
        return flame_error(FLAME_USAGE, "%s: more than %u of %s; take fewer", given->command,
                           WHATIF_RULES_MAX, given->name);
    regex = xmemdup0(given->value, (size_t)(equals - given->value));
    rule.pattern = pattern_new(regex, &why);
    free(regex);
    if (!rule.pattern) {
        flame_error(FLAME_USAGE, "%s: %s %s: no regular expression: %s", given->command,
                    given->name, given->value, why.buf);
        strbuf_release(&why);
        return FLAME_USAGE;
    }
    rules->rule = xreallocarray(rules->rule, rules->n + 1, sizeof *rules->rule);
    rules->rule[rules->n++] = rule;
    return 0;
}

void whatif_rules_release(struct whatif_rules *r)
{
    for (size_t i = 0; i < r->n; i++)
        pattern_free(r->rule[i].pattern);
    free(r->rule);
    *r = (struct whatif_rules){.n = 0};
}

bool whatif_matches(const struct whatif_rule *r, const char *name, size_t len)
{
    bool marked;

    len = place_name_len(name, len);
    marked = len >= 4 && name[len - 1] == ']' && memcmp(name + len - 4, "_[", 2) == 0;
    return pattern_matches(r->pattern, name, len) > 0 ||
           (marked && pattern_matches(r->pattern, name, len - 4) > 0);
}

/* ---- the path as it is ---- */

struct seen {
    const struct critpath *walker;
    const double *part;
    struct whatif_result *result;
    double skipped; /* in a walk without the selected waits */
};

static void take_sum(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns)
{
    struct seen *s = arg;

    (void)runq_ns;
    if (s->part[row] > 1)
        return;
    s->result->path_ns += ns;
    s->result->waits++;
}

static void take_step(void *arg, const struct critpath_step *step)
{
    struct seen *s = arg;

    if (step->kind == CRITPATH_RAN && critpath_has_sums(s->walker)) {
        critpath_share_out(s->walker, step, take_sum, s);
        return;
    }
    if ((step->kind != CRITPATH_WAITED && step->kind != CRITPATH_HANDED) || s->part[step->row] > 1)
        return;
    s->result->waits++;
    if (step->kind == CRITPATH_WAITED)
        s->result->path_ns += step->end_ns - step->begin_ns;
}

static void count_all(const struct trace *t, const double *part, struct whatif_result *result)
{
    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_off_row *row = off_row(&t->rows[id]);

        if (!trace_row_used(&t->rows[id]) || part[id] > 1)
            continue;
        result->all += row->sleeps;
        result->all_ns += row->blocked_ns + row->runq_ns;
    }
}

/* ---- the bounds ---- */

static void skip_sum(void *arg, uint32_t row, uint64_t ns, uint64_t runq_ns)
{
    struct seen *s = arg;

    (void)runq_ns;
    if (s->part[row] < 1)
        s->skipped += (double)ns * (1 - s->part[row]);
}

static void skip_step(void *arg, const struct critpath_step *step)
{
    struct seen *s = arg;

    if (step->kind == CRITPATH_SKIPPED)
        skip_sum(s, step->row, step->end_ns - step->begin_ns, 0);
    else if (step->kind == CRITPATH_RAN && critpath_has_sums(s->walker))
        critpath_share_out(s->walker, step, skip_sum, s);
}

/* The bound of a range: that of the walk, or the replay's if there are steps left. */
static uint64_t bound_of(const struct whatif_paths *p, struct retime *retime,
                         const struct critpath_range *range, const uint32_t *class, struct seen *s,
                         uint64_t *steps)
{
    struct retime_end end;
    uint64_t gain;

    s->skipped = 0;
    critpath_walk(p->walker, range, class, 1, skip_step, s);
    gain = (uint64_t)(s->skipped + 0.5);
    if (!*steps || !retime_run(retime, range, s->part, steps, &end))
        return gain;
    if (end.gain_ns < gain)
        gain = end.gain_ns;
    if (p->whole && retime_last(retime, &end) && end.last_gain_ns < gain) {
        s->result->last = end.last;
        s->result->last_gain_ns = end.last_gain_ns;
    }
    return gain;
}

void whatif_try(const struct whatif_paths *p, const double *part, struct whatif_result *result)
{
    uint32_t *class = xcalloc((size_t)p->t->row_limit + 1, sizeof *class);
    struct seen s = {.walker = p->walker, .part = part, .result = result};
    struct retime *retime = retime_new(p->t, p->walker);
    uint64_t steps = STEPS_MAX;

    *result = (struct whatif_result){.gain_ns = 0};
    count_all(p->t, part, result);
    for (uint32_t id = 0; id < p->t->row_limit; id++)
        class[id] = part[id] < 1;
    for (size_t i = 0; i < p->n; i++) {
        critpath_walk(p->walker, &p->ranges[i], NULL, 0, take_step, &s);
        result->gain_ns += bound_of(p, retime, &p->ranges[i], class, &s, &steps);
    }
    retime_free(retime);
    free(class);
}

/* ---- processors ---- */

uint64_t whatif_cpu(const struct trace *t, const struct critpath_range *range)
{
    struct trace_intervals_reader r;
    struct trace_interval i;
    double ns = 0;

    for (trace_intervals_begin(&r, t); trace_intervals_next(&r, &i);) {
        uint64_t begin = i.begin_ns > range->from_ns ? i.begin_ns : range->from_ns,
                 end = i.end_ns < range->to_ns ? i.end_ns : range->to_ns;

        if (off_row(&t->rows[i.row])->kind == TRACE_OFF_ONCPU && begin < end)
            ns += (double)i.ns * (double)(end - begin) / (double)(i.end_ns - i.begin_ns);
    }
    return (uint64_t)ns;
}
