#include "driver/runsummary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "fold/fold.h"
#include "render/value.h"

/* What the processes allocated themselves: left at the end, and of their peaks. */
static void add_own_rows(struct run_summary *s, const struct trace *t)
{
    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_row *row = &t->rows[i];
        int64_t bytes, calls;

        if (!trace_row_used(row) || (row->flags & TRACE_ROW_INHERITED))
            continue;
        s->live_bytes += row->alloc_bytes - row->free_bytes;
        s->live_blocks += row->alloc_calls - row->free_calls;
        trace_row_peak(t, row, &bytes, &calls);
        s->peak_bytes += (uint64_t)bytes;
    }
}

/* Threads that did anything: a forked child has its parent's record too. */
static void add_threads(struct run_summary *s, const struct trace *t)
{
    for (uint32_t i = 0; i < t->thread_limit; i++) {
        const struct trace_thread *th = trace_thread_at(t, i);

        if (th && th->events)
            s->threads += th->uses ? th->uses : 1;
    }
}

static bool is_new(const struct recording *r, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (r->traces[k]->header.pid == r->traces[i]->header.pid)
            return false;
    return true;
}

void run_summary_make(struct run_summary *s, const struct recording *r)
{
    *s = (struct run_summary){0};
    for (size_t i = 0; i < r->session.ntraces; i++) {
        const struct trace *t = r->traces[i];
        struct fold_summary f;

        fold_summary(t, &f);
        s->alloc_bytes += f.alloc_bytes;
        s->alloc_calls += f.alloc_calls;
        s->fallback_stacks += f.fallback_stacks;
        if (t->header.sample_bytes > s->sample)
            s->sample = t->header.sample_bytes;
        s->stacks += f.stacks;
        s->cost_ns += f.cost_ns;
        s->skipped += f.skipped;
        s->lost_calls += f.lost_calls;
        s->lost_bytes += f.lost_bytes;
        s->lost_frees += f.lost_frees;
        s->processes += is_new(r, i);
        add_own_rows(s, t);
        add_threads(s, t);
    }
    if (s->threads < s->processes)
        s->threads = s->processes;
}

void run_summary_add_count(struct strbuf *sb, uint64_t n, const char *one, const char *many)
{
    value_add_number(sb, (struct folded_count){.whole = n}, true);
    strbuf_addf(sb, " %s", n == 1 ? one : many);
}

static void add_bytes(struct strbuf *sb, uint64_t n)
{
    value_add_both(sb, (struct folded_count){.whole = n}, "bytes");
}

static void add_time(struct strbuf *sb, uint64_t ns)
{
    if (!value_add_human(sb, (struct folded_count){.whole = ns}, "nanoseconds"))
        strbuf_addf(sb, "%" PRIu64 " ns", ns);
}

void run_summary_print(const struct run_summary *s, const struct recording *r)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "%s: allocated ", r->traces[0]->comm);
    add_bytes(&sb, s->alloc_bytes);
    strbuf_addstr(&sb, " in ");
    run_summary_add_count(&sb, s->alloc_calls, "call", "calls");
    flame_warn("%s", sb.buf);

    strbuf_clear(&sb);
    strbuf_addstr(&sb, "peak ");
    add_bytes(&sb, s->peak_bytes);
    if (s->processes > 1)
        strbuf_addstr(&sb, " (each process at its own)");
    strbuf_addstr(&sb, "; live at the end ");
    add_bytes(&sb, s->live_bytes);
    strbuf_addstr(&sb, " in ");
    run_summary_add_count(&sb, s->live_blocks, "block", "blocks");
    flame_warn("%s", sb.buf);

    strbuf_clear(&sb);
    run_summary_add_count(&sb, s->stacks, "stack, ", "stacks, ");
    run_summary_add_count(&sb, s->processes, "process, ", "processes, ");
    run_summary_add_count(&sb, s->threads, "thread; ", "threads; ");
    strbuf_addstr(&sb, "recording cost about ");
    add_time(&sb, s->cost_ns);
    strbuf_addstr(&sb, ", the run took ");
    add_time(&sb, r->run.elapsed_ns);
    flame_warn("%s", sb.buf);

    strbuf_clear(&sb);
    if (s->alloc_calls == 0)
        flame_warn("no call of malloc was seen: the program made none, or it brings an allocator "
                   "of its own");
    if (s->sample) {
        strbuf_addstr(&sb, "sampled, one block in ");
        add_bytes(&sb, s->sample);
        strbuf_addstr(&sb, ": all these figures are estimates");
        flame_warn("%s", sb.buf);
        strbuf_clear(&sb);
    }
    if (s->fallback_stacks) {
        run_summary_add_count(&sb, s->fallback_stacks, "call's stack", "calls' stacks");
        strbuf_addstr(&sb, " had to be walked by libunwind, slowly");
        flame_warn("%s", sb.buf);
        strbuf_clear(&sb);
    }
    if (s->lost_calls || s->lost_frees) {
        strbuf_addstr(&sb, "lost for want of memory or space: ");
        run_summary_add_count(&sb, s->lost_calls, "call (", "calls (");
        add_bytes(&sb, s->lost_bytes);
        strbuf_addstr(&sb, ") and ");
        run_summary_add_count(&sb, s->lost_frees, "free", "frees");
        flame_warn("%s", sb.buf);
    }
    strbuf_clear(&sb);
    if (s->skipped) {
        run_summary_add_count(&sb, s->skipped, "call", "calls");
        strbuf_addstr(&sb, " came from signal handlers that interrupted the recorder, and are not "
                           "counted");
        flame_warn("%s", sb.buf);
    }
    strbuf_release(&sb);
}
