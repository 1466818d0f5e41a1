#include "driver/rundir/unreadable_traces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/trace/trace_reader.h"

#define REPORTED_MOST 8u /* lines */

void unreadable_traces_add(struct unreadable_traces *u, char *path, const char *why)
{
    bool begun = !trace_has_not_begun(path);
    struct unreadable_traces_trace *t;

    GROW(u->trace, u->n, u->room);
    t = &u->trace[u->n++];
    *t = (struct unreadable_traces_trace){.path = path, .why = begun ? xstrdup(why) : NULL};
    t->name = rundir_program_of(path, &t->pid);
    u->damaged += begun;
}

static void add_name(struct strbuf *sb, const struct unreadable_traces_trace *t)
{
    strbuf_addstr(sb, t->name);
    if (t->pid)
        strbuf_addf(sb, " %" PRIu32, t->pid);
}

static void print(const struct unreadable_traces_trace *t, bool kept)
{
    struct strbuf who = STRBUF_INIT;

    add_name(&who, t);
    if (kept)
        flame_warn(
            "%s is not in the result, as its trace cannot be read: %s; it is kept as %s, remove it "
            "afterwards",
            who.buf, t->why, t->path);
    else
        flame_warn("%s is not in the result, as its trace cannot be read: %s", who.buf, t->why);
    strbuf_release(&who);
}

void unreadable_traces_print(const struct unreadable_traces *u, struct rundir *dir,
                             struct unrecorded *others)
{
    size_t reported = 0;

    for (size_t i = 0; i < u->n; i++) {
        const struct unreadable_traces_trace *t = &u->trace[i];
        bool kept = t->why && rundir_keep_file(dir, t->path);

        unrecorded_add_process(others, t->name, t->pid,
                               t->why ? UNRECORDED_DAMAGED : UNRECORDED_NOT_BEGUN);
        if (t->why && reported++ < REPORTED_MOST)
            print(t, kept);
    }
    if (reported > REPORTED_MOST)
        flame_warn("%zu more are missing from the result, as their traces in %s cannot be read",
                   reported - REPORTED_MOST, dir->path);
    if (u->n)
        unrecorded_sort(others);
}

void unreadable_traces_add_names(struct strbuf *sb, const struct unreadable_traces *u)
{
    size_t named = 0;

    for (size_t i = 0; i < u->n; i++) {
        if (!u->trace[i].why)
            continue;
        if (named++ == REPORTED_MOST) {
            strbuf_addf(sb, " and %zu more", u->damaged - REPORTED_MOST);
            return;
        }
        if (named > 1)
            strbuf_addstr(sb, ", ");
        add_name(sb, &u->trace[i]);
    }
}

void unreadable_traces_release(struct unreadable_traces *u)
{
    for (size_t i = 0; i < u->n; i++) {
        free(u->trace[i].path);
        free(u->trace[i].name);
        free(u->trace[i].why);
    }
    free(u->trace);
    *u = (struct unreadable_traces){.n = 0};
}
