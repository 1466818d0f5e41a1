#include "render/path/pathtext.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/trace_format.h"
#include "render/text/value.h"
#include "render/top/toptext.h"

#define TIME_WIDTH 10
#define COUNT_WIDTH 9

static void add_time(struct strbuf *sb, uint64_t ns)
{
    if (!value_add_human(sb, (struct folded_count){.whole = ns}, "nanoseconds"))
        strbuf_addf(sb, "%" PRIu64 " ns", ns);
}

static void add_time_right(struct strbuf *sb, uint64_t ns)
{
    struct strbuf time = STRBUF_INIT;

    add_time(&time, ns);
    toptext_add_right(sb, time.buf, TIME_WIDTH);
    strbuf_release(&time);
}

static void add_name(struct strbuf *sb, const char *name)
{
    toptext_add_name(sb, name, strlen(name), 0);
}

/* The columns of a part of the path: its time and its share. */
static void add_part(struct strbuf *sb, const struct critical_text *path, uint64_t ns)
{
    add_time_right(sb, ns);
    toptext_add_share(sb, (struct folded_count){.whole = ns}, (double)path->length_ns);
}

/* ---- the path ---- */

static void add_first_line(struct strbuf *sb, const struct pathtext *p)
{
    const struct critical_text *path = p->path;

    strbuf_addstr(sb, "Critical path: ");
    add_time(sb, path->length_ns);
    if (path->regions) {
        strbuf_addstr(sb, " of ");
        value_add_counted(sb, path->regions, "region", "regions");
    } else {
        strbuf_addstr(sb, p->range ? " in " : " to the end of ");
        add_name(sb, path->ends_in);
        if (p->range) {
            strbuf_addstr(sb, ", from ");
            add_time(sb, path->from_ns);
            strbuf_addstr(sb, " to ");
            add_time(sb, path->from_ns + path->length_ns);
        }
    }
    strbuf_addstr(sb, ", through ");
    value_add_counted(sb, path->nthreads, "thread", "threads");
    strbuf_addch(sb, '\n');
}

struct share {
    uint64_t ns;
    const char *what;
};

static int by_time(const void *pa, const void *pb)
{
    const struct share *a = pa, *b = pb;

    return (a->ns < b->ns) - (a->ns > b->ns);
}

static void add_parts(struct strbuf *sb, const struct critical_text *path)
{
    struct share shares[] = {
        {path->waited_ns, "waited for time, a disk, a network, or what is not traced"},
        {path->ran_ns, "ran"},
        {path->woken_ns, "waited for a CPU"},
        {path->short_ns, "waited in short waits, known as sums"},
        {path->other_ns, "waited for pages, was stopped, or is not known"},
        {path->unknown_ns, "before the first thing that is known"},
    };

    qsort(shares, ARRAY_LEN(shares), sizeof *shares, by_time);
    for (size_t i = 0; i < ARRAY_LEN(shares) && shares[i].ns; i++) {
        add_part(sb, path, shares[i].ns);
        strbuf_addf(sb, "  %s\n", shares[i].what);
    }
}

static void add_threads(struct strbuf *sb, const struct critical_text *path)
{
    strbuf_addstr(sb, "\nThreads on it:\n");
    for (size_t i = 0; i < path->threads; i++) {
        add_part(sb, path, path->thread[i].ns);
        strbuf_addstr(sb, "  ");
        add_name(sb, path->thread[i].name);
        strbuf_addf(sb, " (%" PRIu64 ")\n", path->thread[i].tid);
    }
    if (path->nthreads > path->threads)
        strbuf_addf(sb, "  and %" PRIu64 " more\n", path->nthreads - path->threads);
}

/* Waits for the end of threads and children are a program's structure: there is no run without
 * them. */
static bool is_structure(const struct critical_text_part *thing)
{
    return thing->kind == TRACE_OFF_CHILD || thing->name[0] == '[';
}

static void add_thing(struct strbuf *sb, const struct critical_text *path,
                      const struct critical_text_part *thing)
{
    struct strbuf waits = STRBUF_INIT;

    value_add_number(&waits, (struct folded_count){.whole = thing->waits}, true);
    if (is_structure(thing))
        toptext_add_right(sb, "-", TIME_WIDTH);
    else
        add_time_right(sb, thing->ns);
    add_part(sb, path, thing->path_ns);
    toptext_add_right(sb, waits.buf, COUNT_WIDTH);
    strbuf_addstr(sb, "  ");
    add_name(sb, thing->name);
    strbuf_addch(sb, '\n');
    strbuf_release(&waits);
}

static void add_things(struct strbuf *sb, const struct critical_text *path)
{
    if (!path->things)
        return;
    strbuf_addstr(sb,
                  "\nWaited for, and by how much the path would be shorter at most if no thread "
                  "had to wait for it:\n");
    toptext_add_right(sb, "at most", TIME_WIDTH);
    toptext_add_right(sb, "on path", TIME_WIDTH);
    toptext_add_right(sb, "on path%", 9);
    toptext_add_right(sb, "waits", COUNT_WIDTH);
    strbuf_addstr(sb, "  for\n");
    for (int structure = 0; structure < 2; structure++)
        for (size_t i = 0; i < path->things; i++)
            if (is_structure(&path->thing[i]) == (structure > 0))
                add_thing(sb, path, &path->thing[i]);
}

void pathtext_add_path(struct strbuf *sb, const struct pathtext *p)
{
    add_first_line(sb, p);
    add_parts(sb, p->path);
    add_threads(sb, p->path);
    add_things(sb, p->path);
}

/* ---- what if ---- */

/* The gain that is left where all threads share some processors. */
static uint64_t gain_on_cpus(const struct pathtext *p, uint64_t gain, uint64_t cpu_ns)
{
    uint64_t least = p->cpus ? cpu_ns / p->cpus : 0, length = p->path->length_ns;

    if (least >= length)
        return 0;
    return gain < length - least ? gain : length - least;
}

static void add_waits(struct strbuf *sb, const struct critical_text_what_if *w)
{
    if (w->waits) {
        value_add_counted(sb, w->waits, "wait", "waits");
        strbuf_addstr(sb, " on the path, ");
        if (w->path_ns) {
            add_time(sb, w->path_ns);
            strbuf_addstr(sb, " of it");
        } else {
            strbuf_addstr(sb, "ended by its threads");
        }
    } else if (w->all) {
        strbuf_addstr(sb, "no wait on the path matches, only ");
        value_add_counted(sb, w->all, "other", "others");
        strbuf_addstr(sb, ", ");
        add_time(sb, w->all_ns);
    } else {
        strbuf_addstr(sb, "no wait matches");
    }
}

static void add_gain(struct strbuf *sb, uint64_t gain, uint64_t length)
{
    strbuf_addch(sb, '-');
    add_time(sb, gain);
    strbuf_addstr(sb, " (");
    value_add_percent(sb, (double)gain, (double)length);
    strbuf_addch(sb, ')');
}

static void add_one(struct strbuf *sb, const struct pathtext *p, size_t i)
{
    const struct critical_text_what_if *w = &p->path->what_if[i];
    uint64_t gain = gain_on_cpus(p, w->gain_ns, w->cpu_ns), length = p->path->length_ns;

    strbuf_addstr(sb, "  ");
    if (i < p->rules->n)
        add_name(sb, p->rules->rule[i].text);
    else
        strbuf_addstr(sb, "all together");
    strbuf_addstr(sb, ": at most ");
    add_gain(sb, gain, length);
    strbuf_addstr(sb, " with the same work done; ");
    add_waits(sb, w);
    strbuf_addch(sb, '\n');
    if (gain < w->gain_ns) {
        strbuf_addstr(sb, "    without this limit of processors ");
        add_gain(sb, w->gain_ns, length);
        strbuf_addch(sb, '\n');
    }
    if (!w->last || w->last_gain_ns >= gain)
        return;
    strbuf_addstr(sb, "    at most ");
    add_gain(sb, w->last_gain_ns, length);
    strbuf_addstr(sb, " if the run also waits for the end of ");
    add_name(sb, w->last);
    strbuf_addf(sb, " (%" PRIu64 "), which then ends last\n", w->last_tid);
}

void pathtext_add_what_if(struct strbuf *sb, const struct pathtext *p)
{
    if (!p->path->nwhat_if)
        return;
    strbuf_addstr(sb, "\nWhat if waits that match took only that part of their time:\n");
    for (size_t i = 0; i < p->path->nwhat_if && i <= p->rules->n; i++)
        add_one(sb, p, i);
}
