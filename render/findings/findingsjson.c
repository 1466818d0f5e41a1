/* Findings as a member of a page's JSON; see findings_add_json in findings.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "render/findings/findings.h"
#include "render/text/json.h"

/* The number of nodes in each node's subtree, itself included. Callers have lower numbers. */
static uint32_t *sizes_of(const struct frametree *t)
{
    uint32_t *sizes = xreallocarray(NULL, t->n, sizeof *sizes);

    for (uint32_t i = 0; i < t->n; i++)
        sizes[i] = 1;
    for (uint32_t i = t->n; i-- > 1;)
        sizes[t->nodes[i].parent] += sizes[i];
    return sizes;
}

/* The index of a node in pre-order: behind its callers and all subtrees left of its path. A walk
 * of the whole tree would give the indices of all nodes, for a third of a page's time. */
static uint32_t place_of(const struct frametree *t, const uint32_t *sizes, uint32_t node)
{
    uint32_t place = 0;

    for (; node; node = t->nodes[node].parent) {
        uint32_t at = t->nodes[t->nodes[node].parent].first;

        for (; at != node; at = t->nodes[at].next)
            place += sizes[at];
        place++;
    }
    return place;
}

static void add_one(struct strbuf *sb, const struct finding *f, const struct render_options *o,
                    uint32_t place, const uint32_t *number)
{
    const char *column = o->columns[f->column].name;

    strbuf_addstr(sb, "{\"text\":");
    json_add_string(sb, f->text, strlen(f->text), 0);
    strbuf_addstr(sb, ",\"column\":");
    json_add_string(sb, column, strlen(column), 0);
    strbuf_addf(sb, ",\"rule\":\"%s\",\"node\":%" PRIu32, f->rule, place);
    if (f->structural)
        strbuf_addstr(sb, ",\"structural\":true");
    for (size_t i = 0; i < f->nnames; i++)
        strbuf_addf(sb, "%s%" PRIu32, i ? "," : ",\"names\":[", number[f->names[i]]);
    if (f->nnames)
        strbuf_addstr(sb, "]");
    if (f->timed)
        strbuf_addf(sb, ",\"time\":[%" PRIu64 ",%" PRIu64 "]", f->from_us, f->to_us);
    strbuf_addstr(sb, "}");
}

void findings_add_json(struct strbuf *sb, const struct findings *f, const struct frametree *t,
                       const struct render_options *o, const uint32_t *number)
{
    uint32_t *sizes;

    if (!f->n)
        return;
    sizes = sizes_of(t);
    strbuf_addstr(sb, "\"findings\":[");
    for (size_t i = 0; i < f->n; i++) {
        strbuf_addstr(sb, i ? ",\n" : "\n");
        add_one(sb, &f->f[i], o, place_of(t, sizes, f->f[i].node), number);
    }
    strbuf_addstr(sb, "],\n");
    free(sizes);
}
