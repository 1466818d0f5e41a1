/*
 * The table of rules, and the order of their findings.
 *
 * A rule is applied to each column that its row is for. The weights of rows follow an expert's
 * order: a change between two runs, a lock, a leak, growth; then the owner of most; then
 * findings that are less certain to be worth a change. Shares decide among equal rows, and never
 * lift one sort over another, so that a page of the same program says the same from run to run.
 */
#include "render/findings/findings.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "render/findings/findingrules.h"
#include "fold/viewtable.h"

static const char lock_rule[] = "lock";

/* clang-format off */
static const struct rule rules[] = {
    {"compare",   "*", rule_compare, 120, NULL},
    {lock_rule,   "chain offwake off", rule_lock, 100, "The lock most waited for is"},
    {"leak",      "definite", rule_leaks, 95, "Leaked:"},
    {"grows",     "live", rule_grows, 90, "grows steadily"},
    {"blocked",   "off", rule_waits, 85, "Blocked longest is"},
    {"keeper",    "kept", rule_keeper, 80, "keeps most"},
    {"owner",     "peak", rule_owner, 70, "holds most at the peak"},
    {"owner",     "live", rule_owner, 60, "holds most at the end"},
    {"owner",     "alloc", rule_owner, 50, "asks for most memory"},
    {"alone",     "leak", rule_owner, 70, "leaked most"},
    {"alone",     "indirect inner reachable region", rule_owner, 70, "has most of it"},
    {"alone",     "growth", rule_owner, 70, "grows most with each pass"},
    {"alone",     "count", rule_owner, 45, "calls malloc most often"},
    {"alone",     "mmap brk grown mapgrown", rule_owner, 70, "has most mapped"},
    {"alone",     "unmapped", rule_owner, 70, "maps and unmaps most"},
    {"alone",     "rss swap slack", rule_owner, 70, "has most of it"},
    {"alone",     "fault", rule_owner, 70, "touches memory first most often"},
    {"alone",     "touched", rule_owner, 70, "asked for most of what was touched first"},
    {"alone",     "old", rule_owner, 70, "has most of what is old"},
    {"alone",     "oncpu", rule_owner, 70, "runs longest"},
    {"alone",     "io runq hotcold", rule_owner, 70, "has most of it"},
    {"path",      "critical", rule_waits, 84, "On the critical path the longest wait is"},
    {"wakeup",    "wakeup", rule_wakeup, 70, "ended most of the waiting"},
    {"self",      "*", rule_owner, 75, "takes most itself"},
    {"recursion", "*", rule_recursion, 45, "all"},
    {"churn",     "temp", rule_churn, 56, NULL},
    {"churn",     "short", rule_owner, 54, "has most of what dies young"},
    {"turnover",  "alloc", rule_turnover, 55, NULL},
    {"untouched", "rss", rule_untouched, 40, NULL},
    {"runq",      "runq", rule_runq, 82, "Threads that could run waited for a CPU"},
    {"few",       "peak alloc live leak", rule_few, 30, "all bytes"},
    {"few",       "*", rule_few, 30, "all"},
};
/* clang-format on */

static bool is_listed(const char *views, const char *name)
{
    size_t len = strlen(name);

    while (*views) {
        size_t n = strcspn(views, " ");

        if (n == len && memcmp(views, name, n) == 0)
            return true;
        views += n + (views[n] == ' ');
    }
    return false;
}

/* The column that a reader sees first. */
static uint32_t first_of(const struct look *k)
{
    uint32_t column = k->o->view ? look_column(k, k->o->view) : 0;

    return column == UINT32_MAX ? 0 : column;
}

static bool fits(const struct look *k, const struct rule *r, uint32_t column)
{
    const struct render_column *c = &k->o->columns[column];

    if (c->timed)
        return false;
    /* A comparison has one column; the owner of most is not its subject. */
    if (k->t->delta || r->find == rule_compare)
        return k->t->delta && r->find == rule_compare;
    if (strcmp(r->views, "*") == 0)
        return !view_of_text(c->name);
    if (!is_listed(r->views, c->name))
        return false;
    if (r->find == rule_few || r->find == rule_wakeup || strcmp(r->name, "alone") == 0)
        return column == first_of(k);
    return true;
}

static int by_weight(const void *pa, const void *pb)
{
    const struct finding *a = pa, *b = pb;

    if (a->structural != b->structural)
        return a->structural ? 1 : -1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return strcmp(a->text, b->text);
}

void findings_make(struct findings *out, const struct frametree *t, const struct render_options *o,
                   bool whole)
{
    struct look k;

    *out = (struct findings){NULL, 0, 0};
    if (o->no_findings || o->ordered || (o->reverse && !whole) || t->n < 2 || !o->ncolumns)
        return;
    look_init(&k, t, o, out);
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        for (uint32_t c = 0; c < o->ncolumns && c <= t->ncolumns; c++)
            if (fits(&k, &rules[i], c))
                rules[i].find(&k, &rules[i], c);
    look_release(&k);
    if (out->n)
        qsort(out->f, out->n, sizeof *out->f, by_weight);
    while (out->n > FINDINGS_MAX)
        free(out->f[--out->n].text);
}

/* The view with the evidence of a lock, borrowed from `o`; NULL: no lock is contended. */
static const char *view_of_lock(const struct findings *f, const struct render_options *o)
{
    for (size_t i = 0; i < f->n; i++)
        if (strcmp(f->f[i].rule, lock_rule) == 0)
            return o->columns[f->f[i].column].name;
    return NULL;
}

const char *findings_first_view(const struct findings *f, const struct frametree *t,
                                const struct render_options *o)
{
    struct render_options shown = *o;
    struct findings unshown;
    const char *view;

    if (o->view || !o->ncolumns || strcmp(o->columns[0].name, off_views[0].name) != 0)
        return o->view;
    if (!o->no_findings)
        return view_of_lock(f, o);
    shown.no_findings = false;
    findings_make(&unshown, t, &shown, true);
    view = view_of_lock(&unshown, o);
    findings_release(&unshown);
    return view;
}

void findings_release(struct findings *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->f[i].text);
    free(f->f);
    *f = (struct findings){NULL, 0, 0};
}
