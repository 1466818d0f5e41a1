#include "driver/run/runsummary.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/alloc.h"
#include "common/error.h"
#include "driver/run/runtimes.h"
#include "driver/run/survivors.h"
#include "driver/run/unhooked_memory.h"
#include "fold/fold.h"
#include "render/text/value.h"

#define PROGRAMS_NAMED 8

static uint64_t count_others(const struct recording *r)
{
    const struct run_totals *k = &r->taken;
    uint32_t *pids = xcalloc(k->nprocesses, sizeof *pids);
    size_t n;

    for (size_t i = 0; i < k->nprocesses; i++)
        pids[i] = k->process[i].pid;
    n = unrecorded_processes(&r->others, pids, k->nprocesses);
    free(pids);
    return n;
}

/* Each stack has one row in the sums of the traces. */
static uint64_t count_stacks(const struct recording *r)
{
    uint64_t n = 0;

    for (size_t i = 0; i < r->ntraces; i++)
        for (uint32_t id = 0; id < r->traces[i]->row_limit; id++)
            n += trace_row_counts(&r->traces[i]->rows[id]);
    return n;
}

void run_summary_make(struct run_summary *s, const struct recording *r)
{
    const struct run_totals *k = &r->taken;

    *s = (struct run_summary){.t = k->totals,
                              .stacks = count_stacks(r),
                              .peak_at_once = k->ends_known ? run_totals_concurrent_peak(k) : 0,
                              .processes = run_totals_pids(k),
                              .others = count_others(r)};
    for (size_t i = 0; i < k->nprocesses; i++)
        if (!s->peak || k->process[i].peak_bytes > s->peak_bytes) {
            s->peak = &k->process[i];
            s->peak_bytes = s->peak->peak_bytes;
        }
    if (s->t.threads < s->processes)
        s->t.threads = s->processes;
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

/* Appends the peak of several processes. The time of each one's peak is not known, but which of
 * them ran at the same time is. */
static void add_peak_of_several(struct strbuf *sb, const struct run_summary *s)
{
    if (s->processes < 2)
        return;
    strbuf_addf(sb, " in the largest process (%s %u)", s->peak->comm, s->peak->pid);
    if (!s->peak_at_once)
        return;
    strbuf_addstr(sb, ", at most ");
    add_bytes(sb, s->peak_at_once);
    strbuf_addstr(sb, " in all at once");
}

/* Prints when the recording ended early. The time comes from a recorded process, so it may be
 * any value. */
static void print_end(const struct recording *r)
{
    uint64_t start = r->run.start_ns, end = r->others.full_ns;
    struct strbuf sb = STRBUF_INIT;

    if (!end)
        return;
    strbuf_addstr(&sb, "the recording ended after ");
    add_time(&sb, end > start && end - start < r->run.elapsed_ns ? end - start : r->run.elapsed_ns);
    strbuf_addstr(&sb, ", when its ");
    add_bytes(&sb, r->rundir.disk);
    strbuf_addstr(&sb, " of disk (--max-disk) were used up: the figures are as of then");
    flame_warn("%s", sb.buf);
    strbuf_release(&sb);
}

void run_summary_print_unnamed_python(const struct run_totals *k)
{
    uint32_t said = 0;

    for (size_t i = 0; i < k->nprocesses; i++) {
        const struct run_totals_process *p = &k->process[i];
        struct strbuf which = STRBUF_INIT;

        if (!p->unnamed_python || p->unnamed_python == said)
            continue;
        said = p->unnamed_python;
        if (said == TRACE_PYTHON_OLD)
            strbuf_addstr(&which, "a Python older than 3.11");
        else if (said == TRACE_PYTHON_FREE_THREADED)
            strbuf_addstr(&which, "a Python that is built without a GIL");
        else if (said == TRACE_PYTHON_PROCESSOR)
            strbuf_addstr(&which, "Python on this processor");
        else
            strbuf_addf(&which, "Python %u.%u", said >> 8, said & 0xff);
        flame_warn("functions of %s have no names in %s; names are read of CPython 3.11 to 3.15 on "
                   "x86-64, with -p to 3.14",
                   which.buf, p->comm);
        strbuf_release(&which);
    }
}

void run_summary_print_others(const struct recording *r)
{
    struct strbuf sb = STRBUF_INIT;
    size_t n;

    unrecorded_add(&sb, &r->others, PROGRAMS_NAMED);
    if (sb.len)
        flame_warn("not recorded: %s", sb.buf);
    strbuf_clear(&sb);
    n = survivors_list(&sb, &r->taken, r->rundir.path, PROGRAMS_NAMED);
    if (n)
        flame_warn("%zu %s (%s%s): what %s from now on is not in the recording", n,
                   n == 1 ? "process still runs" : "processes still run", sb.buf,
                   n > PROGRAMS_NAMED ? "..." : "", n == 1 ? "it does" : "they do");
    strbuf_release(&sb);
}

/* Prints what programs requested themselves (preload/flamemem.h). */
static void print_asked(const struct run_summary *s)
{
    struct strbuf sb = STRBUF_INIT;

    if (s->t.paused_calls) {
        strbuf_addstr(&sb, "not counted, as the program paused the recording: ");
        value_add_counted(&sb, s->t.paused_calls, "call (", "calls (");
        add_bytes(&sb, s->t.paused_bytes);
        strbuf_addstr(&sb, ")");
        flame_warn("%s", sb.buf);
        strbuf_clear(&sb);
    }
    if (s->t.unkept_snapshots) {
        value_add_counted(&sb, s->t.unkept_snapshots, "snapshot", "snapshots");
        strbuf_addstr(&sb, " that the program asked for could not be kept; --snapshots DIR says "
                           "where to");
        flame_warn("%s", sb.buf);
    }
    strbuf_release(&sb);
}

static void print_moments(const struct momentwatch *w)
{
    if (momentwatch_error(w))
        flame_warn("moments could not be kept: %s; make room in TMPDIR",
                   strerror(momentwatch_error(w)));
}

/* Prints resident memory, and the free part of it that the allocator holds. */
static void print_resident(const struct run_totals_resident *t)
{
    struct strbuf sb = STRBUF_INIT;

    if (t->processes) {
        strbuf_addstr(&sb, "resident at the end ");
        add_bytes(&sb, t->sums.bytes);
        if (t->processes > 1) {
            strbuf_addstr(&sb, " in ");
            value_add_counted(&sb, t->processes, "process", "processes, shared pages in each");
        }
        if (t->sums.swapped_bytes) {
            strbuf_addstr(&sb, ", swapped out ");
            add_bytes(&sb, t->sums.swapped_bytes);
        }
        strbuf_addstr(&sb, "; blocks: asked for ");
        add_bytes(&sb, t->sums.asked_bytes);
        if (t->sums.usable_bytes) {
            strbuf_addstr(&sb, ", handed out ");
            add_bytes(&sb, t->sums.usable_bytes);
        }
        strbuf_addstr(&sb, ", resident and in no block ");
        add_bytes(&sb, t->sums.slack_bytes);
        flame_warn("%s", sb.buf);
        strbuf_clear(&sb);
    }
    if (t->failed) {
        value_add_counted(&sb, t->failed, "process", "processes");
        flame_warn("resident memory could not be scanned in %s: %s", sb.buf,
                   strerror((int)t->error));
    }
    strbuf_release(&sb);
}

void run_summary_add_cost(struct strbuf *sb, uint64_t cost_ns, uint64_t threads, uint64_t run_ns)
{
    uint64_t most = threads && run_ns > UINT64_MAX / threads ? UINT64_MAX : threads * run_ns;

    if (!cost_ns || cost_ns > most) {
        strbuf_addstr(sb, "what recording cost is not known");
        return;
    }
    strbuf_addstr(sb, "recording cost about ");
    add_time(sb, cost_ns);
    if (cost_ns > run_ns)
        strbuf_addstr(sb, " in all threads together");
}

void run_summary_print(const struct run_summary *s, const struct recording *r)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "%s: allocated ", run_totals_first(&r->taken)->comm);
    add_bytes(&sb, s->t.alloc_bytes);
    strbuf_addstr(&sb, " in ");
    value_add_counted(&sb, s->t.alloc_calls, "call", "calls");
    flame_warn("%s", sb.buf);

    strbuf_clear(&sb);
    strbuf_addstr(&sb, "peak ");
    add_bytes(&sb, s->peak_bytes);
    add_peak_of_several(&sb, s);
    strbuf_addstr(&sb, "; live at the end ");
    value_add_blocks(&sb, s->t.live_bytes, s->t.live_blocks);
    flame_warn("%s", sb.buf);

    strbuf_clear(&sb);
    value_add_counted(&sb, s->stacks, "stack, ", "stacks, ");
    value_add_counted(&sb, s->processes, "process", "processes");
    if (s->others) {
        strbuf_addstr(&sb, " of ");
        value_add_number(&sb, (struct folded_count){.whole = s->processes + s->others}, true);
    }
    strbuf_addstr(&sb, ", ");
    value_add_counted(&sb, s->t.threads, "thread; ", "threads; ");
    run_summary_add_cost(&sb, s->t.cost_ns, s->t.threads, r->run.elapsed_ns);
    strbuf_addstr(&sb, ", the run took ");
    add_time(&sb, r->run.elapsed_ns);
    flame_warn("%s", sb.buf);

    print_resident(&s->t.resident);
    print_end(r);
    print_moments(r->moments);
    run_summary_print_others(r);
    run_summary_print_unnamed_python(&r->taken);
    runtimes_print_unnamed(r);
    strbuf_clear(&sb);
    if (!unhooked_memory_print(r) && s->t.alloc_calls == 0)
        flame_warn("no call of malloc was seen: the program made none, or it brings an allocator "
                   "of its own");
    if (s->t.sample) {
        strbuf_addstr(&sb, "sampled, one block in ");
        add_bytes(&sb, s->t.sample);
        strbuf_addstr(&sb, ": all these figures are estimates");
        flame_warn("%s", sb.buf);
        strbuf_clear(&sb);
    }
    if (s->t.fallback_stacks) {
        value_add_counted(&sb, s->t.fallback_stacks, "call's stack", "calls' stacks");
        strbuf_addstr(&sb, " had to be walked by libunwind, slowly");
        flame_warn("%s", sb.buf);
        strbuf_clear(&sb);
    }
    if (s->t.lost_calls || s->t.lost_frees) {
        strbuf_addstr(&sb, "lost for want of memory or space: ");
        value_add_counted(&sb, s->t.lost_calls, "call (", "calls (");
        add_bytes(&sb, s->t.lost_bytes);
        strbuf_addstr(&sb, ") and ");
        value_add_counted(&sb, s->t.lost_frees, "free", "frees");
        flame_warn("%s", sb.buf);
    }
    strbuf_clear(&sb);
    if (s->t.lost_mappings) {
        value_add_counted(&sb, s->t.lost_mappings, "call", "calls");
        strbuf_addstr(&sb, " that mapped memory could not be counted");
        flame_warn("%s", sb.buf);
    }
    strbuf_clear(&sb);
    if (s->t.sandbox_calls) {
        value_add_counted(&sb, s->t.sandbox_calls, "call (", "calls (");
        add_bytes(&sb, s->t.sandbox_bytes);
        strbuf_addstr(&sb, ") after a process entered a sandbox could not be recorded");
        flame_warn("%s", sb.buf);
    }
    strbuf_clear(&sb);
    print_asked(s);
    if (s->t.skipped) {
        value_add_counted(&sb, s->t.skipped, "call", "calls");
        strbuf_addstr(&sb, " came from signal handlers that interrupted the recorder, and are not "
                           "counted");
        flame_warn("%s", sb.buf);
    }
    strbuf_release(&sb);
}
