#include "fold/analysis/lastknown.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_intervals.h"
#include "fold/analysis/offrow.h"

struct seen {
    uint64_t begin_ns, end_ns; /* 0: nothing */
    uint64_t known_ns;         /* time it did not run */
};

/* Whether the trace has the thread's end, at which all its times are recorded. */
static bool has_end(const struct trace_off_thread *th)
{
    return th->wall_ns || th->cpu_ns || th->runq_ns;
}

static void add_rows(const struct trace *t, struct seen *of)
{
    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_off_row *r = off_row(&t->rows[i]);

        if (trace_row_used(&t->rows[i]) && r->kind != TRACE_OFF_CLASS &&
            r->thread < t->thread_limit)
            of[r->thread].known_ns += r->blocked_ns + r->runq_ns;
    }
}

static void add_intervals(const struct trace *t, struct seen *of)
{
    struct trace_intervals_reader reader;
    struct trace_interval one;

    for (trace_intervals_begin(&reader, t); trace_intervals_next(&reader, &one);) {
        uint16_t thread = off_row(&t->rows[one.row])->thread;
        struct seen *s = thread < t->thread_limit ? &of[thread] : NULL;

        if (!s)
            continue;
        if (!s->end_ns || one.begin_ns < s->begin_ns)
            s->begin_ns = one.begin_ns;
        if (one.end_ns > s->end_ns)
            s->end_ns = one.end_ns;
    }
}

struct lastknown lastknown_of(const struct trace *t)
{
    struct lastknown l = {.timed = t->nintervals != 0};
    struct seen *of = xcalloc((size_t)t->thread_limit + 1, sizeof *of);

    add_rows(t, of);
    add_intervals(t, of);
    for (uint32_t id = 0; id < t->thread_limit; id++) {
        const struct trace_off_thread *th = trace_off_thread_at(t, id);
        uint64_t ns = of[id].end_ns - of[id].begin_ns;

        if (!th || has_end(th))
            continue;
        l.threads += th->uses ? th->uses : 1;
        l.most_ran_ns += ns > of[id].known_ns ? ns - of[id].known_ns : 0;
    }
    free(of);
    return l;
}
