#include "render/dump/dumpintervals.h"

#include "common/trace/trace_intervals.h"

/* Writes the precision of the following intervals' records. */
static void dump_record(const struct trace_intervals *head, size_t id, struct recordtext *w)
{
    recordtext_record(w);
    recordtext_number(w, "record", id);
    recordtext_number(w, "short_ns", head->short_ns);
    recordtext_number(w, "lost_ns", head->lost_ns);
    recordtext_number(w, "bytes", head->bytes);
    recordtext_record_end(w);
}

static uint64_t since(const struct trace *t, uint64_t ns)
{
    return ns > t->time_zero_ns ? ns - t->time_zero_ns : 0;
}

void dump_lives(const struct trace *t, struct recordtext *w)
{
    for (size_t i = 0; i < t->nlives; i++) {
        recordtext_record(w);
        recordtext_number(w, "thread", t->lives[i].thread);
        recordtext_number(w, "parent", t->lives[i].parent);
        recordtext_number(w, "begin_ns", t->lives[i].begin_ns);
        recordtext_number(w, "end_ns", t->lives[i].end_ns);
        recordtext_number(w, "since_ns", since(t, t->lives[i].begin_ns));
        recordtext_record_end(w);
    }
}

void dump_regions(const struct trace *t, struct recordtext *w)
{
    for (size_t i = 0; i < t->nregion_times; i++) {
        const struct trace_region_time *r = &t->region_times[i];

        recordtext_record(w);
        recordtext_number(w, "thread", r->thread);
        recordtext_string(w, "name", t->regions[r->region]);
        recordtext_string(w, "is", r->flags & TRACE_REGION_PASS ? "pass" : "tag");
        recordtext_number(w, "cut", (r->flags & TRACE_REGION_CUT) != 0);
        recordtext_number(w, "begin_ns", r->begin_ns);
        recordtext_number(w, "end_ns", r->end_ns);
        recordtext_number(w, "since_ns", since(t, r->begin_ns));
        recordtext_record_end(w);
    }
}

void dump_intervals(const struct trace *t, struct recordtext *w)
{
    static const char *const is[] = {[TRACE_INTERVAL_SLEEP] = "sleep",
                                     [TRACE_INTERVAL_PART] = "part",
                                     [TRACE_INTERVAL_SHARE] = "share",
                                     [TRACE_INTERVAL_SUM] = "sum"};
    const struct trace_off_row *rows = trace_off_rows(t);
    struct trace_intervals_reader r;
    struct trace_interval one;

    for (size_t i = 0; i < t->nintervals; i++)
        dump_record(&t->intervals[i].head, i, w);
    for (trace_intervals_begin(&r, t); rows && trace_intervals_next(&r, &one);) {
        recordtext_record(w);
        recordtext_number(w, "begin_ns", one.begin_ns);
        recordtext_number(w, "end_ns", one.end_ns);
        recordtext_number(w, "since_ns", since(t, one.begin_ns));
        recordtext_number(w, "thread", rows[one.row].thread);
        dump_off_kind(rows[one.row].kind, w);
        recordtext_string(w, "is", is[one.kind]);
        recordtext_number(w, "ns", one.ns);
        recordtext_number(w, "runq_ns", one.runq_ns);
        recordtext_number(w, "times", one.times);
        recordtext_number(w, "longest_ns", one.longest_ns);
        recordtext_number(w, "node", rows[one.row].node);
        recordtext_number(w, "row", one.row);
        recordtext_record_end(w);
    }
}
