/*
 * GitLab's Code Quality report: an array of issues, each with a path relative to the project, a
 * line and a fingerprint that is unique in it.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "common/hash.h"
#include "driver/leak/leakreport.h"
#include "driver/leak/misuselines.h"
#include "render/text/json.h"

/* Appends the path of the source; without a source that of the module. */
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

/* Fingerprints of the groups. Equal ones get the number of equal ones before them added, so all
 * differ. The caller frees the array. */
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
        prints[sorted[i].i] = sorted[i].print + same * HASH_GOLDEN;
    }
    free(sorted);
    return prints;
}

static void add_issue(struct strbuf *sb, const struct strbuf *text, const char *check,
                      uint64_t print, const struct leak_frame *place)
{
    strbuf_addstr(sb, sb->len > 1 ? ",\n {\"description\": " : "\n {\"description\": ");
    json_add_string(sb, text->buf, text->len, 0);
    strbuf_addf(sb,
                ", \"check_name\": \"%s\", \"fingerprint\": \"%016" PRIx64
                "\", \"severity\": \"major\",\n  \"location\": {\"path\": ",
                check, print);
    add_path(sb, place);
    strbuf_addf(sb, ", \"lines\": {\"begin\": %u}}}", place && place->line ? place->line : 1);
}

static void add_leak(struct strbuf *sb, const struct leak_group *g, uint64_t print)
{
    struct strbuf text = STRBUF_INIT, check = STRBUF_INIT;

    leak_group_add(&text, g);
    strbuf_addf(&check, "%s-leak", leak_class_names[g->leak->class]);
    add_issue(sb, &text, check.buf, print, leak_place(g->leak));
    strbuf_release(&text);
    strbuf_release(&check);
}

/* Misuses with equal stacks are one misuse, so fingerprints differ. */
static void add_misuse(struct strbuf *sb, const struct misuse *m)
{
    struct strbuf text = STRBUF_INIT, more = STRBUF_INIT;

    misuse_add_line(&text, m);
    misuse_add_more(&more, m, "; ");
    if (more.len)
        strbuf_addf(&text, "; %s", more.buf);
    add_issue(sb, &text, misuse_kind_names[m->facts.kind], misuse_fingerprint(m),
              misuse_place(m, MISUSE_CALL));
    strbuf_release(&text);
    strbuf_release(&more);
}

/* Adds an issue for the processes that were not checked, with the test as its path. */
static void add_unchecked(struct strbuf *sb, const struct leak_report *r)
{
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(&text, "%s: not checked: %s", r->name, r->unchecked);
    add_issue(sb, &text, "not-checked", fnv_text(fnv_text(FNV_BASIS, "not-checked"), r->name),
              NULL);
    strbuf_release(&text);
}

void report_gitlab(struct strbuf *sb, const struct leak_report *r)
{
    uint64_t *prints = fingerprints(r->groups);
    struct strbuf issues = STRBUF_INIT;

    strbuf_addch(&issues, '[');
    if (leak_report_is_unchecked(r))
        add_unchecked(&issues, r);
    for (size_t i = 0; r->misuses && i < r->misuses->n; i++)
        add_misuse(&issues, &r->misuses->misuse[i]);
    for (size_t i = 0; i < r->groups->n && r->over; i++)
        add_leak(&issues, &r->groups->group[i], prints[i]);
    strbuf_add(sb, issues.buf, issues.len);
    strbuf_addstr(sb, "]\n");
    strbuf_release(&issues);
    free(prints);
}
