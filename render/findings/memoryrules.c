/*
 * Rules about memory: the owner of most of it, who keeps most, leaks, blocks that live for a moment
 * only, and memory that was allocated and never used.
 */
#include "render/findings/findingrules.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/str_starts.h"

#define OWNER_LEAST 0.05     /* a smaller share makes no function the owner of the total */
#define CHURN_CALLS 1000     /* fewer calls cost nothing that matters */
#define CHURN_LEAST 0.1      /* of all calls */
#define TURNOVER_LEAST 10    /* ratio of all allocated bytes to the peak */
#define TURNOVER_BYTES 1e6   /* allocated in total; less is not worth a change */
#define UNTOUCHED_LEAST 0.25 /* of what was live */
#define UNTOUCHED_BYTES (256.0 * 1024)
#define LEAK_PART 0.01 /* of the live bytes: less, and less than LEAK_BYTES, is a small leak */
#define LEAK_BYTES 65536.0
#define MEMBER_PART 0.9 /* of a variable's bytes: its member's name is added */
#define SMALL_LEAK 30   /* taken off the weight of a small leak */

/* Whether a finding of the rule of that name already names the function. */
static bool is_said(const struct look *k, const char *rule, const struct owner *o)
{
    for (size_t i = 0; i < k->out->n; i++) {
        const struct finding *f = &k->out->f[i];

        if (strcmp(f->rule, rule) == 0 && k->function[k->t->nodes[f->node].name] == o->function)
            return true;
    }
    return false;
}

void rule_owner(struct look *k, const struct rule *r, uint32_t column)
{
    double total = look_total(k, column);
    struct strbuf sb = STRBUF_INIT;
    struct finding *f;
    struct owner o;

    /* The rule of leaks reports these with their classes. */
    if (strcmp(k->o->columns[column].name, "leak") == 0 && look_total_of(k, "definite") > 0)
        return;
    if (!owner_find(k, column, look_own(k, column), NULL, &o) || o.sum < OWNER_LEAST * total ||
        is_said(k, r->name, &o))
        return;
    look_add_function(k, &sb, o.node);
    strbuf_addf(&sb, " %s: ", r->says);
    look_add_part(k, &sb, column, o.sum, total);
    f = look_say(k, r->name, r->base + 10 * o.sum / total, &sb, column, o.node);
    if (o.part < o.sum)
        look_mark(k, f, o.node);
}

/* Appends ", 1.00 KiB that only leaks lead to", if there are any. */
static void add_leak_class(struct look *k, struct strbuf *sb, const char *view, const char *says)
{
    double v = look_total_of(k, view);

    if (!(v > 0))
        return;
    strbuf_addstr(sb, ", ");
    look_add_amount(k, sb, look_column(k, view), v);
    strbuf_addf(sb, " %s", says);
}

/* Reports all classes of leaks in one sentence. `column` is that of definite leaks. */
void rule_leaks(struct look *k, const struct rule *r, uint32_t column)
{
    double total = look_total(k, column), live = look_total_of(k, "live"),
           all = total + look_total_of(k, "indirect");
    bool small = all < LEAK_PART * live && all < LEAK_BYTES;
    struct strbuf sb = STRBUF_INIT;
    struct owner o;

    if (!owner_find(k, column, look_own(k, column), NULL, &o))
        return;
    strbuf_addf(&sb, "%s ", r->says);
    look_add_amount(k, &sb, column, total);
    strbuf_addstr(&sb, " that nothing leads to, ");
    look_add_mostly(&sb, o.sum, total);
    strbuf_addstr(&sb, "by ");
    look_add_function(k, &sb, o.node);
    add_leak_class(k, &sb, "indirect", "that only leaks lead to");
    add_leak_class(k, &sb, "inner", "reached by its inside only");
    add_leak_class(k, &sb, "reachable", "still reachable");
    look_say(k, r->name, r->base - (small ? SMALL_LEAK : 0), &sb, column, o.node);
}

/* Reports blocks that are freed before their thread's next call. */
void rule_churn(struct look *k, const struct rule *r, uint32_t column)
{
    uint32_t calls = look_column(k, "count");
    double total = look_total(k, column), all = calls == UINT32_MAX ? 0 : look_total(k, calls);
    struct strbuf sb = STRBUF_INIT;
    struct owner o;

    if (total < CHURN_CALLS || (all > 0 && total < CHURN_LEAST * all) ||
        !owner_find(k, column, look_own(k, column), NULL, &o))
        return;
    if (all > 0)
        look_add_part(k, &sb, column, total, all);
    else
        look_add_amount(k, &sb, column, total);
    strbuf_addstr(&sb, " for blocks freed before their thread's next call, ");
    if (o.sum < total) {
        look_add_share(&sb, o.sum, total);
        strbuf_addstr(&sb, " of them ");
    }
    strbuf_addstr(&sb, "in ");
    look_add_function(k, &sb, o.node);
    look_say(k, r->name, r->base + (all > 0 ? 10 * total / all : 0), &sb, column, o.node);
}

/* Reports that much more was allocated than ever was live at once. */
void rule_turnover(struct look *k, const struct rule *r, uint32_t column)
{
    double total = look_total(k, column), peak = look_total_of(k, "peak");
    struct strbuf sb = STRBUF_INIT;
    struct owner o;

    if (!(peak > 0) || total < TURNOVER_BYTES || total < TURNOVER_LEAST * peak ||
        !owner_find(k, column, look_own(k, column), NULL, &o) || o.sum < OWNER_LEAST * total)
        return;
    look_add_amount(k, &sb, column, total);
    strbuf_addf(&sb, " were asked for in all, %.0f times what there was at the peak, ",
                total / peak);
    look_add_mostly(&sb, o.sum, total);
    strbuf_addstr(&sb, "by ");
    look_add_function(k, &sb, o.node);
    look_say(k, r->name, r->base, &sb, column, o.node);
}

/* Reports memory that is live, but neither resident nor swapped out. `column` is that of
 * resident memory. */
void rule_untouched(struct look *k, const struct rule *r, uint32_t column)
{
    uint32_t live = look_column(k, "live"), swap = look_column(k, "swap");
    const double *here = look_own(k, column), *out = NULL, *all;
    double total = 0, whole;
    struct strbuf sb = STRBUF_INIT;
    struct owner o;
    double *rest, *used;

    if (live == UINT32_MAX || !(look_total(k, column) > 0))
        return;
    all = look_own(k, live);
    whole = look_total(k, live);
    if (swap != UINT32_MAX)
        out = look_own(k, swap);
    rest = xcalloc(k->t->n, sizeof *rest);
    used = xcalloc(k->t->n, sizeof *used);
    /* Kinds of pages are frames above the owner's. */
    for (uint32_t i = 0; i < k->t->n; i++) {
        rest[look_owner(k, live, i)] += all[i];
        used[look_owner(k, column, i)] += here[i] + (out ? out[i] : 0);
    }
    for (uint32_t i = 0; i < k->t->n; i++) {
        rest[i] = rest[i] > used[i] ? rest[i] - used[i] : 0;
        total += rest[i];
    }
    free(used);
    if (total >= UNTOUCHED_LEAST * whole && total >= UNTOUCHED_BYTES &&
        owner_find(k, live, rest, NULL, &o)) {
        look_add_part(k, &sb, live, total, whole);
        strbuf_addstr(&sb, " live at the end were asked for and are not resident, ");
        look_add_mostly(&sb, o.sum, total);
        strbuf_addstr(&sb, "by ");
        look_add_function(k, &sb, o.node);
        look_say(k, r->name, r->base + 10 * total / whole, &sb, live, o.node);
    }
    free(rest);
}

static bool name_starts(const struct look *k, uint32_t node, const char *with)
{
    const struct frametree_name *name = frametree_name(k->t, node);

    return bytes_start_with(name->s, name->len, with);
}

/* Whether the frame is a variable, or a thread's stack, at the root of what it keeps. */
static bool is_keeper(const struct look *k, uint32_t node)
{
    return name_starts(k, node, "[stack of ") ||
           (k->t->nodes[node].parent != FRAMETREE_NONE &&
            name_starts(k, k->t->nodes[node].parent, "[globals of "));
}

/* The child with the largest sum; 0: there is none. */
static uint32_t largest_child(const struct look *k, const double *sums, uint32_t node)
{
    uint32_t best = 0;

    for (uint32_t c = k->t->nodes[node].first; c != FRAMETREE_NONE; c = k->t->nodes[c].next)
        if (!best || sums[c] > sums[best])
            best = c;
    return best;
}

static void add_keeper(const struct look *k, struct strbuf *sb, const double *sums, uint32_t node)
{
    static const char of[] = "[globals of ";
    const struct frametree_name *name = frametree_name(k->t, node), *on;
    uint32_t member = largest_child(k, sums, node);

    strbuf_add(sb, name->s, name->len);
    if (member && strchr("+.", *frametree_name(k->t, member)->s) &&
        sums[member] >= MEMBER_PART * sums[node])
        strbuf_add(sb, frametree_name(k->t, member)->s, frametree_name(k->t, member)->len);
    if (*name->s == '[')
        return;
    on = frametree_name(k->t, k->t->nodes[node].parent);
    strbuf_addstr(sb, " of ");
    strbuf_add(sb, on->s + sizeof of - 1, on->len - (sizeof of - 1) - 1);
}

/* Reports the variable or stack that keeps most. */
void rule_keeper(struct look *k, const struct rule *r, uint32_t column)
{
    const double *own = look_own(k, column);
    double total = look_total(k, column), *sums = xcalloc(k->t->n, sizeof *sums);
    struct strbuf sb = STRBUF_INIT;
    uint32_t best = 0;

    memcpy(sums, own, k->t->n * sizeof *sums);
    for (uint32_t i = k->t->n; i-- > 1;) /* callers have lower numbers */
        sums[k->t->nodes[i].parent] += sums[i];
    for (uint32_t i = 1; i < k->t->n; i++)
        if (is_keeper(k, i) && (!best || sums[i] > sums[best]))
            best = i;
    if (best && sums[best] >= OWNER_LEAST * total) {
        add_keeper(k, &sb, sums, best);
        strbuf_addf(&sb, " %s: ", r->says);
        look_add_part(k, &sb, column, sums[best], total);
        look_say(k, r->name, r->base + 10 * sums[best] / total, &sb, column, best);
    }
    free(sums);
}
