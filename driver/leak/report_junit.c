/*
 * JUnit's XML, as test servers read it: a suite for the command with two cases, one for its exit
 * status and one for its leaks.
 */
#include <inttypes.h>

#include "driver/leak/leakreport.h"
#include "driver/leak/misuselines.h"
#include "render/text/xml.h"

static void add_text(struct strbuf *sb, const char *s)
{
    xml_add(sb, s, strlen(s), 0);
}

static void add_seconds(struct strbuf *sb, uint64_t ns)
{
    strbuf_addf(sb, "%" PRIu64 ".%03" PRIu64, ns / 1000000000u, ns / 1000000u % 1000u);
}

/* Whether nothing was found, but not everything was checked. */
static bool has_doubts(const struct leak_report *r)
{
    return !r->over && (*r->doubts || r->unchecked_fails);
}

static void add_counts(struct strbuf *sb, const struct leak_report *r)
{
    bool misused = r->misuses && r->misuses->n;

    strbuf_addf(sb, " tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"", r->misuses ? 3 : 2,
                (r->status != 0) + (r->over != 0) + misused, has_doubts(r));
    add_seconds(sb, r->elapsed_ns);
    strbuf_addch(sb, '"');
}

static void begin_case(struct strbuf *sb, const struct leak_report *r, const char *what,
                       uint64_t ns)
{
    strbuf_addstr(sb, "    <testcase classname=\"");
    add_text(sb, r->name);
    strbuf_addf(sb, "\" name=\"%s\" time=\"", what);
    add_seconds(sb, ns);
    strbuf_addstr(sb, "\">\n");
}

static void add_groups(struct strbuf *sb, const struct leak_report *r)
{
    struct strbuf line = STRBUF_INIT;

    for (size_t i = 0; i < r->groups->n; i++) {
        const struct leak_group *g = &r->groups->group[i];

        strbuf_clear(&line);
        leak_group_add(&line, g);
        add_text(sb, line.buf);
        strbuf_addch(sb, '\n');
        for (size_t f = 0; f < g->leak->nframes; f++) {
            strbuf_clear(&line);
            leak_add_place(&line, &g->leak->frames[f]);
            strbuf_addstr(sb, "    ");
            add_text(sb, line.buf);
            strbuf_addch(sb, '\n');
        }
    }
    strbuf_release(&line);
}

static void add_end(struct strbuf *sb, const struct leak_report *r)
{
    begin_case(sb, r, "end", r->elapsed_ns);
    if (r->status != 0) {
        strbuf_addstr(sb, "      <failure type=\"end\" message=\"");
        leak_report_add_end(sb, r);
        strbuf_addstr(sb, "\"/>\n");
    }
    strbuf_addstr(sb, "    </testcase>\n");
}

static void add_leaks(struct strbuf *sb, const struct leak_report *r)
{
    begin_case(sb, r, "leaks", 0);
    if (r->over) {
        strbuf_addstr(sb, "      <failure type=\"leak\" message=\"");
        leak_report_add_verdict(sb, r);
        strbuf_addstr(sb, "\">");
        add_groups(sb, r);
        strbuf_addstr(sb, "</failure>\n");
    } else if (leak_report_is_unchecked(r)) {
        strbuf_addstr(sb, "      <error type=\"unchecked\" message=\"not checked: ");
        add_text(sb, r->unchecked);
        strbuf_addstr(sb, "\"/>\n");
    } else if (has_doubts(r)) {
        strbuf_addstr(sb, "      <error type=\"look\" message=\"");
        add_text(sb, r->doubts);
        strbuf_addstr(sb, "\"/>\n");
    }
    strbuf_addstr(sb, "    </testcase>\n");
}

static void add_stack(struct strbuf *sb, const struct misuse *m, enum misuse_stack which,
                      const char *what)
{
    const struct leak *l = &m->at[which];
    struct strbuf line = STRBUF_INIT;

    if (l->nframes)
        strbuf_addf(sb, "  %s:\n", what);
    for (size_t i = 0; i < l->nframes; i++) {
        strbuf_clear(&line);
        leak_add_place(&line, &l->frames[i]);
        strbuf_addstr(sb, "    ");
        add_text(sb, line.buf);
        strbuf_addch(sb, '\n');
    }
    strbuf_release(&line);
}

static void add_misuse(struct strbuf *sb, const struct misuse *m)
{
    struct strbuf line = STRBUF_INIT;

    misuse_add_line(&line, m);
    strbuf_addch(&line, '\n');
    misuse_add_more(&line, m, "\n");
    strbuf_addch(&line, '\n');
    add_text(sb, line.buf);
    add_stack(sb, m, MISUSE_CALL, "called");
    add_stack(sb, m, MISUSE_ALLOC, "allocated");
    add_stack(sb, m, MISUSE_FREE, "freed");
    strbuf_release(&line);
}

static void add_misuses(struct strbuf *sb, const struct leak_report *r)
{
    if (!r->misuses)
        return;
    begin_case(sb, r, "misuse", 0);
    if (r->misuses->n)
        strbuf_addf(sb, "      <failure type=\"misuse\" message=\"%zu misuse%s of the allocator\">",
                    r->misuses->n, r->misuses->n == 1 ? "" : "s");
    for (size_t i = 0; i < r->misuses->n; i++)
        add_misuse(sb, &r->misuses->misuse[i]);
    if (r->misuses->n)
        strbuf_addstr(sb, "</failure>\n");
    strbuf_addstr(sb, "    </testcase>\n");
}

static void add_unseen(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addstr(sb, "    <system-err>");
    if (*r->not_recorded) {
        strbuf_addstr(sb, "not recorded: ");
        add_text(sb, r->not_recorded);
        strbuf_addch(sb, '\n');
    }
    for (size_t i = 0; i < r->nprocesses; i++) {
        if (r->processes[i].looked || !r->look)
            continue;
        strbuf_addstr(sb, "not checked for leaks: ");
        add_text(sb, r->processes[i].name);
        strbuf_addf(sb, " %" PRIu32 "\n", r->processes[i].pid);
    }
    strbuf_addstr(sb, "</system-err>\n");
}

void report_junit(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addstr(sb,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"flame leak\"");
    add_counts(sb, r);
    strbuf_addstr(sb, ">\n  <testsuite name=\"");
    add_text(sb, r->name);
    strbuf_addch(sb, '"');
    add_counts(sb, r);
    strbuf_addstr(sb, " skipped=\"0\" timestamp=\"");
    leak_add_time(sb, r->started, "%Y-%m-%dT%H:%M:%S");
    strbuf_addstr(sb, "\">\n");
    add_end(sb, r);
    add_leaks(sb, r);
    add_misuses(sb, r);
    add_unseen(sb, r);
    strbuf_addstr(sb, "  </testsuite>\n</testsuites>\n");
}
