#include "fold/filter_report.h"

#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "fold/idle.h"
#include "fold/stacks/place.h"

struct excludes {
    regex_t *regex;
    size_t n;
    struct strbuf text; /* regexec wants a NUL where the name ends */
};

struct excludes *excludes_new(const char *const *regexes, size_t n)
{
    struct excludes *e = xcalloc(1, sizeof *e);

    e->regex = xcalloc(n, sizeof *e->regex);
    e->text = (struct strbuf)STRBUF_INIT;
    for (; e->n < n; e->n++) {
        int err = regcomp(&e->regex[e->n], regexes[e->n], REG_EXTENDED | REG_NOSUB);
        char why[128];

        if (!err)
            continue;
        regerror(err, &e->regex[e->n], why, sizeof why);
        flame_error(FLAME_USAGE, "--exclude %s: no regular expression: %s", regexes[e->n], why);
        excludes_free(e);
        return NULL;
    }
    return e;
}

void excludes_free(struct excludes *e)
{
    if (!e)
        return;
    while (e->n > 0)
        regfree(&e->regex[--e->n]);
    free(e->regex);
    strbuf_release(&e->text);
    free(e);
}

bool excludes_match(void *excludes, const char *text, size_t len)
{
    struct excludes *e = excludes;
    bool marked;

    len = place_name_len(text, len);
    marked = len >= 4 && text[len - 1] == ']' && memcmp(text + len - 4, "_[", 2) == 0;

    for (int bare = 0; bare <= (int)marked; bare++) {
        strbuf_clear(&e->text);
        strbuf_add(&e->text, text, bare ? len - 4 : len);
        for (size_t i = 0; i < e->n; i++)
            if (regexec(&e->regex[i], e->text.buf, 0, NULL, 0) == 0)
                return true;
    }
    return false;
}

static void add_amount(struct strbuf *sb, uint64_t n, const char *unit, uint32_t scale)
{
    if (scale > 1)
        strbuf_addf(sb, "%.3f s", (double)n / 1e9);
    else
        strbuf_addf(sb, "%" PRIu64 " %s", n, unit);
}

void filter_report_print(const struct filter_report *l, const char *unit, uint32_t scale)
{
    uint64_t all = l->comm + l->exclude + l->idle;
    struct strbuf sb = STRBUF_INIT;

    if (!all)
        return;
    strbuf_addstr(&sb, "left out ");
    add_amount(&sb, all, unit, scale);
    strbuf_addstr(&sb, " of ");
    add_amount(&sb, l->total, unit, scale);
    if (l->comm) {
        strbuf_addstr(&sb, "; of other threads ");
        add_amount(&sb, l->comm, unit, scale);
    }
    if (l->idle) {
        strbuf_addstr(&sb, "; idle ");
        add_amount(&sb, l->idle, unit, scale);
        strbuf_addf(&sb, " of %zu thread%s (%s)", l->idle_threads, l->idle_threads == 1 ? "" : "s",
                    l->idle_names.buf);
    }
    if (l->exclude) {
        strbuf_addstr(&sb, "; with an excluded frame ");
        add_amount(&sb, l->exclude, unit, scale);
    }
    flame_warn("%s", sb.buf);
    strbuf_release(&sb);
}

void filter_report_propose_idle(const struct filter_report *l)
{
    struct strbuf sb = STRBUF_INIT;

    if (l->idle < IDLE_MUCH_NS || l->idle / IDLE_MUCH_PERCENT < l->total / 100 ||
        l->total - l->idle < IDLE_REST_NS)
        return;
    add_amount(&sb, l->idle, "", 1000);
    strbuf_addstr(&sb, " of ");
    add_amount(&sb, l->total, "", 1000);
    strbuf_addf(&sb, " is idle: %zu thread%s (%s) only wait%s for work; --idle leaves that out",
                l->idle_threads, l->idle_threads == 1 ? "" : "s", l->idle_names.buf,
                l->idle_threads == 1 ? "s" : "");
    flame_warn("%s", sb.buf);
    strbuf_release(&sb);
}

void filter_report_release(struct filter_report *l)
{
    strbuf_release(&l->idle_names);
}
