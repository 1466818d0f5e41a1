/* Summary of suppressions on standard error, separate for built-in and user's rules. */
#include <inttypes.h>

#include "common/error.h"
#include "driver/suppress/leak_filter_impl.h"
#include "render/text/value.h"

/* Rules named in one line. */
#define NAMED 8

static void add_sum(struct strbuf *sb, uint64_t bytes, uint64_t blocks)
{
    value_add_both(sb, (struct folded_count){.whole = bytes}, "bytes");
    strbuf_addstr(sb, " in ");
    value_add_number(sb, (struct folded_count){.whole = blocks}, true);
    strbuf_addstr(sb, blocks == 1 ? " block" : " blocks");
}

static void add_where(struct strbuf *sb, const struct suppression *r)
{
    if (r->file)
        strbuf_addf(sb, "%s:%u: ", r->file, r->line);
    strbuf_addf(sb, "%.100s", r->name);
}

/* "OF hide 120 bytes in 3 blocks: RULE (100 bytes in 2 blocks), ..." */
static void print_hidden(struct leak_filter *h, bool builtin)
{
    struct strbuf list = STRBUF_INIT, sb = STRBUF_INIT;
    struct leak_filter_sum all = {0, 0};
    size_t n = 0;

    for (size_t i = 0; i < suppressions_count(h->rules); i++) {
        const struct suppression *r = suppressions_at(h->rules, i);

        if (!r->blocks || (r->file == NULL) != builtin)
            continue;
        leak_filter_add(&all, r->bytes, r->blocks);
        if (n++ >= NAMED)
            continue;
        strbuf_addstr(&list, list.len ? "; " : "");
        add_where(&list, r);
        strbuf_addstr(&list, " (");
        add_sum(&list, r->bytes, r->blocks);
        strbuf_addch(&list, ')');
    }
    add_sum(&sb, all.bytes, all.blocks);
    if (n)
        flame_warn("leak: %s suppressed%s: %s%s", sb.buf,
                   builtin ? " as known (--no-builtin-suppressions counts them)" : "", list.buf,
                   n > NAMED ? "; ..." : "");
    strbuf_release(&list);
    strbuf_release(&sb);
}

/* "2 misuses suppressed: RULE (1); RULE (1)" */
static void print_misuses(struct leak_filter *h)
{
    struct strbuf list = STRBUF_INIT;
    uint64_t all = 0;
    size_t n = 0;

    for (size_t i = 0; i < suppressions_count(h->rules); i++) {
        const struct suppression *r = suppressions_at(h->rules, i);

        if (!r->misuses)
            continue;
        all += r->misuses;
        if (n++ >= NAMED)
            continue;
        strbuf_addstr(&list, list.len ? "; " : "");
        add_where(&list, r);
        strbuf_addf(&list, " (%" PRIu64 ")", r->misuses);
    }
    if (n)
        flame_warn("leak: %" PRIu64 " misuse%s suppressed: %s%s", all, all == 1 ? "" : "s",
                   list.buf, n > NAMED ? "; ..." : "");
    strbuf_release(&list);
}

/* Whether the rule is for the kind of leaks in this run. */
static bool could_match(const struct leak_filter *h, const struct suppression *r)
{
    unsigned looked_for =
        h->what != LEAK_FILTER_LEAKS ? SUPPRESS_OTHER : SUPPRESS_DEFINITE | SUPPRESS_INDIRECT;

    if (h->o->misuse)
        looked_for |= SUPPRESS_MISUSE;
    return r->file && r->kinds & looked_for;
}

static void print_unused(struct leak_filter *h)
{
    struct strbuf sb = STRBUF_INIT;
    size_t n = 0;

    for (size_t i = 0; i < suppressions_count(h->rules); i++) {
        const struct suppression *r = suppressions_at(h->rules, i);

        if (r->matched || !could_match(h, r) || n++ >= NAMED)
            continue;
        strbuf_addstr(&sb, sb.len ? "; " : "");
        add_where(&sb, r);
    }
    if (n)
        flame_warn("leak: %zu %s nothing: %s%s", n,
                   n == 1 ? "suppression matches" : "suppressions match", sb.buf,
                   n > NAMED ? "; ..." : "");
    strbuf_release(&sb);
}

static void print_baseline(struct leak_filter *h)
{
    struct strbuf sb = STRBUF_INIT;

    add_sum(&sb, h->in_baseline.bytes, h->in_baseline.blocks);
    if (h->known && h->in_baseline.blocks)
        flame_warn("leak: %s known from %s", sb.buf, h->o->baseline);
    if (h->now && !h->known)
        flame_warn("leak: %s written to %s as known", sb.buf, h->o->write_baseline);
    else if (h->now)
        flame_warn("leak: what leaks now is written to %s", h->o->write_baseline);
    strbuf_release(&sb);
}

void leak_filter_print(struct leak_filter *h)
{
    print_hidden(h, false);
    print_hidden(h, true);
    print_misuses(h);
    print_unused(h);
    print_baseline(h);
}
