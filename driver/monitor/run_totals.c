#include "driver/monitor/run_totals.h"

#include <stdlib.h>
#include <time.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/trace/wrapping.h"

/* Features that record findings of processes about their blocks. */
#define FOUND (TRACE_FEATURE_LEAKS | TRACE_FEATURE_REGIONS | TRACE_FEATURE_GROWTH)

void run_totals_init(struct run_totals *k, const struct fold_options *options)
{
    *k = (struct run_totals){.options = *options};
    if (options->ancestors)
        k->options.tree = process_tree_new(options->pid);
    k->sums = tracesums_new(&k->options);
    k->leak_options = (struct fold_options){.own = true, .pid = true, .tid = true};
    k->leaks = tracesums_new(&k->leak_options);
}

void run_totals_release(struct run_totals *k)
{
    tracesums_free(k->sums);
    tracesums_free(k->leaks);
    process_tree_free(k->options.tree);
    for (size_t i = 0; i < k->nnames; i++)
        free(k->names[i]);
    free(k->names);
    free(k->process);
    *k = (struct run_totals){0};
}

/* Returns an equal name if there is one. There are few different names, and the last are the
 * likeliest. */
static const char *keep_name(struct run_totals *k, const char *name)
{
    for (size_t i = k->nnames; i-- > 0;)
        if (strcmp(k->names[i], name) == 0)
            return k->names[i];
    GROW(k->names, k->nnames, k->names_room);
    return k->names[k->nnames++] = xstrdup(name);
}

/* The number of threads that did anything. */
static uint64_t busy_threads(const struct trace *t)
{
    uint64_t n = 0;

    for (uint32_t i = 0; i < t->thread_limit; i++) {
        const struct trace_thread *th = trace_thread_at(t, i);

        if (th && th->events)
            n += th->uses ? th->uses : 1;
    }
    return n;
}

static void add_resident(struct run_totals_resident *s, const struct trace_resident *r)
{
    bool known = r->usable_bytes && (!s->processes || s->sums.usable_bytes);

    if (!r->monotonic_ns)
        return;
    if (r->error) {
        s->failed++;
        s->error = r->error;
        return;
    }
    s->sums.bytes += r->bytes;
    s->sums.swapped_bytes += r->swapped_bytes;
    s->sums.blocks += r->blocks;
    s->sums.asked_bytes += r->asked_bytes;
    s->sums.usable_bytes = known ? s->sums.usable_bytes + r->usable_bytes : 0;
    s->sums.slack_bytes += r->slack_bytes;
    s->processes++;
}

static void add_totals(struct run_totals_sums *s, const struct trace *t)
{
    struct fold_summary f;

    add_resident(&s->resident, &t->resident);
    fold_summary(t, &f);
    s->alloc_bytes += f.alloc_bytes;
    s->alloc_calls += f.alloc_calls;
    s->fallback_stacks += f.fallback_stacks;
    s->cost_ns += f.cost_ns;
    s->skipped += f.skipped;
    s->lost_calls += f.lost_calls;
    s->lost_bytes += f.lost_bytes;
    s->lost_frees += f.lost_frees;
    s->lost_mappings += f.lost_mappings;
    s->paused_calls += f.paused_calls;
    s->paused_bytes += f.paused_bytes;
    s->kept_snapshots += f.kept_snapshots;
    s->unkept_snapshots += f.unkept_snapshots;
    s->sandbox_calls += f.sandbox_calls;
    s->sandbox_bytes += f.sandbox_bytes;
    s->threads += busy_threads(t);
    if (t->header.sample_bytes > s->sample)
        s->sample = t->header.sample_bytes;
}

static void add_verdict(struct run_totals_sums *s, const struct trace_row *row)
{
    struct run_totals_leaks *to = row->flags & TRACE_ROW_LEAKED           ? &s->leaked
                                  : row->flags & TRACE_ROW_LEAKED_BY_LEAK ? &s->by_leak
                                                                          : &s->inner;

    to->bytes += row->alloc_bytes;
    to->blocks += row->alloc_calls;
}

/* Adds the process's own blocks that were live at the end; returns their peak. */
static uint64_t add_own_rows(struct run_totals_sums *s, const struct trace *t)
{
    uint64_t peak = 0;

    for (uint32_t i = 0; i < t->row_limit; i++) {
        const struct trace_row *row = &t->rows[i];
        int64_t bytes, calls;

        if (trace_row_used(row) && (row->flags & TRACE_ROW_ENDS))
            add_verdict(s, row);
        if (!trace_row_counts(row) || (row->flags & TRACE_ROW_INHERITED))
            continue;
        s->live_bytes += row->alloc_bytes - row->free_bytes;
        s->live_blocks += row->alloc_calls - row->free_calls;
        trace_row_peak(t, row, &bytes, &calls);
        peak += (uint64_t)bytes;
    }
    return peak;
}

static void note(struct run_totals *k, const struct trace *t, bool ended)
{
    struct run_totals_process *p;

    GROW(k->process, k->nprocesses, k->process_alloc);
    p = &k->process[k->nprocesses++];
    *p = (struct run_totals_process){
        .pid = t->header.pid,
        .ended = ended,
        .leak_checked = t->header.features & TRACE_FEATURE_LEAKS,
        .kept_searched = t->header.features & TRACE_FEATURE_KEPT,
        .unlooked = t->header.unlooked,
        .unnamed_python = t->header.unnamed_python,
        .static_allocator = t->header.features & TRACE_FEATURE_STATIC_ALLOCATOR,
        .marks = t->most_marks,
        .comm = keep_name(k, t->comm),
        .exe = keep_name(k, t->exe),
        .start_ns = t->header.start_monotonic_ns,
        .end_ns = clock_ns(CLOCK_MONOTONIC),
        .recorders = t->header.own_bytes + (uint64_t)t->header.units * TRACE_UNIT,
        .peak_with_inherited = t->header.peak_bytes + t->header.inherited_bytes};
    if (t->header.recorder != TRACE_RECORDER_MEM)
        return;
    add_totals(&k->totals, t);
    p->peak_bytes = add_own_rows(&k->totals, t);
}

static bool has_verdicts(const struct trace *t)
{
    for (uint32_t i = 0; i < t->row_limit && t->header.features & FOUND; i++)
        if (trace_row_used(&t->rows[i]) && !trace_row_counts(&t->rows[i]))
            return true;
    return false;
}

void run_totals_add(struct run_totals *k, struct trace *t, bool ended)
{
    if (t->header.features & TRACE_FEATURE_FAULTS) { /* a trace of several processes */
        tracesums_add(k->sums, t);
        return;
    }
    growthwatch_give(k->growth, t);
    momentwatch_give(k->moments, t, ended);
    note(k, t, ended);
    if (has_verdicts(t) || t->nmisuses || t->header.unjudged_frees)
        tracesums_add_flagged(k->leaks, t, TRACE_ROW_VERDICTS);
    tracesums_add(k->sums, t);
}

const struct run_totals_process *run_totals_first(const struct run_totals *k)
{
    const struct run_totals_process *first = k->process;

    for (size_t i = 1; i < k->nprocesses; i++)
        if (k->process[i].start_ns < first->start_ns)
            first = &k->process[i];
    return first;
}

/* ---- over all processes ---- */

/* A process starts (its peak is added) or ends. */
struct change {
    uint64_t when;
    int64_t bytes;
};

/* At equal times, ends sort before starts: exec frees the old program's memory. */
static int by_time(const void *pa, const void *pb)
{
    const struct change *a = pa, *b = pb;

    if (a->when != b->when)
        return a->when < b->when ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_pid_and_start(const void *pa, const void *pb)
{
    const struct run_totals_process *a = pa, *b = pb;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* Lists starts and ends. An exec ends a program, since it frees the memory. */
static struct change *list_changes(const struct run_totals *k)
{
    struct run_totals_process *sorted = xcalloc(k->nprocesses, sizeof *sorted);
    struct change *changes = xcalloc(2 * k->nprocesses, sizeof *changes);

    if (k->nprocesses) {
        memcpy(sorted, k->process, k->nprocesses * sizeof *sorted);
        qsort(sorted, k->nprocesses, sizeof *sorted, by_pid_and_start);
    }
    for (size_t i = 0; i < k->nprocesses; i++) {
        const struct run_totals_process *p = &sorted[i], *next = p + 1;
        uint64_t end = p->end_ns;

        if (i + 1 < k->nprocesses && next->pid == p->pid && next->start_ns < end)
            end = next->start_ns;
        changes[2 * i] = (struct change){p->start_ns, (int64_t)p->peak_bytes};
        changes[2 * i + 1] = (struct change){end, wrapping_sub(0, (int64_t)p->peak_bytes)};
    }
    free(sorted);
    return changes;
}

uint64_t run_totals_concurrent_peak(const struct run_totals *k)
{
    struct change *changes = list_changes(k);
    int64_t now = 0, most = 0;

    if (k->nprocesses)
        qsort(changes, 2 * k->nprocesses, sizeof *changes, by_time);
    for (size_t i = 0; i < 2 * k->nprocesses; i++) {
        now = wrapping_add(now, changes[i].bytes);
        most = now > most ? now : most;
    }
    free(changes);
    return (uint64_t)most;
}

static int by_pid(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

size_t run_totals_pids(const struct run_totals *k)
{
    uint32_t *pids = xcalloc(k->nprocesses, sizeof *pids);
    size_t n = 0;

    for (size_t i = 0; i < k->nprocesses; i++)
        pids[i] = k->process[i].pid;
    if (k->nprocesses)
        qsort(pids, k->nprocesses, sizeof *pids, by_pid);
    for (size_t i = 0; i < k->nprocesses; i++)
        n += i == 0 || pids[i] != pids[i - 1];
    free(pids);
    return n;
}
