/*
 * GitLab's Code Quality report: an array of issues, each with a path relative to the project, a
 * line and a fingerprint that is unique in it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "driver/leak/leakreport.h"
#include "render/json.h"

/* What has no source is put down to the module. */
static void add_path(struct strbuf *sb, const struct leak_frame *f)
{
    const char *path = leak_source_path(f);

    if (!path)
        path = f && *f->module ? f->module : "unknown";
    json_add_string(sb, path, strlen(path), 0);
}

struct print {
    uint64_t print;
    size_t i;
};

static int by_print(const void *pa, const void *pb)
{
    const struct print *a = pa, *b = pb;

    if (a->print != b->print)
        return a->print < b->print ? -1 : 1;
    return (a->i > b->i) - (a->i < b->i);
}

/* Of each group; equal ones are told apart by how many came before. The caller frees it. */
static uint64_t *fingerprints(const struct leak_groups *groups)
{
    struct print *sorted = xcalloc(groups->n, sizeof *sorted);
    uint64_t *prints = xcalloc(groups->n, sizeof *prints), same = 0;

    for (size_t i = 0; i < groups->n; i++)
        sorted[i] = (struct print){leak_group_fingerprint(&groups->group[i]), i};
    if (groups->n)
        qsort(sorted, groups->n, sizeof *sorted, by_print);
    for (size_t i = 0; i < groups->n; i++) {
        same = i && sorted[i - 1].print == sorted[i].print ? same + 1 : 0;
        prints[sorted[i].i] = sorted[i].print + same * 0x9e3779b97f4a7c15u;
    }
    free(sorted);
    return prints;
}

void report_gitlab(struct strbuf *sb, const struct leak_report *r)
{
    uint64_t *prints = fingerprints(r->groups);

    strbuf_addch(sb, '[');
    for (size_t i = 0; i < r->groups->n && r->over; i++) {
        const struct leak_group *g = &r->groups->group[i];
        const struct leak_frame *place = leak_place(g->leak);
        struct strbuf text = STRBUF_INIT;

        leak_group_add(&text, g);
        strbuf_addstr(sb, i ? ",\n {\"description\": " : "\n {\"description\": ");
        json_add_string(sb, text.buf, text.len, 0);
        strbuf_addf(sb,
                    ", \"check_name\": \"%s-leak\", \"fingerprint\": \"%016" PRIx64
                    "\", \"severity\": \"major\",\n  \"location\": {\"path\": ",
                    leak_class_names[g->leak->class], prints[i]);
        add_path(sb, place);
        strbuf_addf(sb, ", \"lines\": {\"begin\": %u}}}", place && place->line ? place->line : 1);
        strbuf_release(&text);
    }
    strbuf_addstr(sb, "]\n");
    free(prints);
}
