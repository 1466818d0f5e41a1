/*
 * TAP version 14: two test points, one for the command's exit status and one for its leaks, with
 * the leaks in a YAML block. Strings there are JSON's, which are YAML's, too.
 */
#include <inttypes.h>

#include "driver/leak/leakreport.h"
#include "driver/leak/misuselines.h"
#include "render/text/json.h"

static void escape(struct strbuf *sb, char c)
{
    strbuf_addch(sb, '\\');
    strbuf_addch(sb, c);
}

static void add_point(struct strbuf *sb, bool good, int number, const char *name, const char *what)
{
    strbuf_addf(sb, "%s %d - ", good ? "ok" : "not ok", number);
    leak_add_text(sb, name, "\\#", escape);
    strbuf_addf(sb, ": %s\n", what);
}

static void add_string(struct strbuf *sb, const char *key, const char *s)
{
    strbuf_addf(sb, "%s: ", key);
    json_add_string(sb, s, strlen(s), 0);
    strbuf_addch(sb, '\n');
}

static void add_group(struct strbuf *sb, const struct leak_group *g)
{
    const struct leak_frame *place = leak_place(g->leak);
    struct strbuf frame = STRBUF_INIT;

    strbuf_addf(sb, "    - class: %s\n      bytes: %" PRIu64 "\n      blocks: %" PRIu64 "\n",
                leak_class_names[g->leak->class], g->bytes, g->blocks);
    strbuf_addf(sb, "      processes: %zu\n      threads: %zu\n", g->processes, g->threads);
    if (g->leak->region)
        add_string(sb, "      region", g->leak->region);
    if (g->leak->class == LEAK_GROWTH)
        strbuf_addf(sb, "      fit: %.6f\n", g->leak->fit);
    if (g->leak->kept_by)
        add_string(sb, "      kept_by", g->leak->kept_by);
    if (g->leak->through)
        add_string(sb, "      through", g->leak->through);
    add_string(sb, "      process", g->leak->process);
    add_string(sb, "      thread", g->leak->thread);
    if (place && place->file) {
        add_string(sb, "      file", leak_source_path(place));
        strbuf_addf(sb, "      line: %u\n", place->line);
    }
    strbuf_addstr(sb, "      stack:\n");
    for (size_t i = 0; i < g->leak->nframes; i++) {
        strbuf_clear(&frame);
        leak_add_place(&frame, &g->leak->frames[i]);
        strbuf_addstr(sb, "        - ");
        json_add_string(sb, frame.buf, frame.len, 0);
        strbuf_addch(sb, '\n');
    }
    strbuf_release(&frame);
}

static void add_block(struct strbuf *sb, const struct leak_report *r)
{
    struct strbuf verdict = STRBUF_INIT;

    leak_report_add_verdict(&verdict, r);
    strbuf_addstr(sb, "  ---\n");
    add_string(sb, "  message", verdict.buf);
    strbuf_addstr(sb, "  severity: fail\n  leaks:\n");
    for (size_t i = 0; i < r->groups->n; i++)
        add_group(sb, &r->groups->group[i]);
    strbuf_addstr(sb, "  ...\n");
    strbuf_release(&verdict);
}

static void add_stack(struct strbuf *sb, const struct misuse *m, enum misuse_stack which,
                      const char *key)
{
    const struct leak *l = &m->at[which];
    struct strbuf frame = STRBUF_INIT;

    if (l->nframes)
        strbuf_addf(sb, "      %s:\n", key);
    for (size_t i = 0; i < l->nframes; i++) {
        strbuf_clear(&frame);
        leak_add_place(&frame, &l->frames[i]);
        strbuf_addstr(sb, "        - ");
        json_add_string(sb, frame.buf, frame.len, 0);
        strbuf_addch(sb, '\n');
    }
    strbuf_release(&frame);
}

static void add_misuse(struct strbuf *sb, const struct misuse *m)
{
    const struct leak_frame *place = misuse_place(m, MISUSE_CALL);
    struct strbuf text = STRBUF_INIT;

    strbuf_addf(sb, "    - kind: %s\n      count: %" PRIu64 "\n", misuse_kind_names[m->facts.kind],
                m->facts.count);
    misuse_add_line(&text, m);
    add_string(sb, "      message", text.buf);
    strbuf_clear(&text);
    misuse_add_more(&text, m, "; ");
    if (text.len)
        add_string(sb, "      more", text.buf);
    if (place && place->file) {
        add_string(sb, "      file", leak_source_path(place));
        strbuf_addf(sb, "      line: %u\n", place->line);
    }
    add_stack(sb, m, MISUSE_CALL, "stack");
    add_stack(sb, m, MISUSE_ALLOC, "allocated");
    add_stack(sb, m, MISUSE_FREE, "freed");
    strbuf_release(&text);
}

static void add_misuses(struct strbuf *sb, const struct leak_report *r)
{
    if (!r->misuses)
        return;
    add_point(sb, !r->misuses->n, 3, r->name, "uses the allocator rightly");
    if (!r->misuses->n)
        return;
    strbuf_addstr(sb, "  ---\n  severity: fail\n  misuses:\n");
    for (size_t i = 0; i < r->misuses->n; i++)
        add_misuse(sb, &r->misuses->misuse[i]);
    strbuf_addstr(sb, "  ...\n");
}

/* A comment is a line. */
static void add_unseen(struct strbuf *sb, const struct leak_report *r)
{
    if (*r->not_recorded) {
        strbuf_addstr(sb, "# not recorded: ");
        leak_add_text(sb, r->not_recorded, NULL, NULL);
        strbuf_addch(sb, '\n');
    }
    for (size_t i = 0; i < r->nprocesses; i++) {
        if (r->processes[i].looked || !r->look)
            continue;
        strbuf_addstr(sb, "# not checked for leaks: ");
        leak_add_text(sb, r->processes[i].name, NULL, NULL);
        strbuf_addf(sb, " %" PRIu32 "\n", r->processes[i].pid);
    }
}

/* If no leak was found, but not all processes were checked, there is no result. */
static void add_leaks(struct strbuf *sb, const struct leak_report *r)
{
    struct strbuf what = STRBUF_INIT;

    strbuf_addstr(&what, r->look     ? "leaks no memory"
                         : r->growth ? "does not grow"
                                     : "leaves no memory");
    if (leak_report_is_unchecked(r)) {
        strbuf_addstr(&what, " # SKIP not checked: ");
        leak_add_text(&what, r->unchecked, "\\#", escape);
    }
    add_point(sb, !r->over && !*r->doubts, 2, r->name, what.buf);
    strbuf_release(&what);
}

void report_tap(struct strbuf *sb, const struct leak_report *r)
{
    struct strbuf end = STRBUF_INIT;

    leak_report_add_end(&end, r);
    strbuf_addf(sb, "TAP version 14\n1..%d\n", r->misuses ? 3 : 2);
    add_point(sb, r->status == 0, 1, r->name, "ends with status 0");
    if (r->status != 0) {
        strbuf_addstr(sb, "  ---\n");
        add_string(sb, "  message", end.buf);
        strbuf_addstr(sb, "  severity: fail\n  ...\n");
    }
    add_leaks(sb, r);
    if (r->over) {
        add_block(sb, r);
    } else if (*r->doubts) {
        strbuf_addstr(sb, "  ---\n");
        add_string(sb, "  message", r->doubts);
        strbuf_addstr(sb, "  severity: fail\n  ...\n");
    }
    add_misuses(sb, r);
    add_unseen(sb, r);
    strbuf_release(&end);
}
