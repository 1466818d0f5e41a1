#include "driver/leak/leak_coverage.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "common/trace/mark_growth.h"

#define PROCESSES_NAMED 8

/* Order in which the younger trace of a process comes first. Traces are ingested when they are
 * found complete, which may differ from the order of the process's programs; that order decides
 * where a start time is not known. */
static int later_first(const struct run_totals_process *a, const struct run_totals_process *b)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? 1 : -1;
    return (a < b) - (a > b);
}

static int by_pid_last_first(const void *pa, const void *pb)
{
    const struct run_totals_process *a = *(const struct run_totals_process *const *)pa,
                                    *b = *(const struct run_totals_process *const *)pb;

    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return later_first(a, b);
}

static int last_first(const void *pa, const void *pb)
{
    return later_first(*(const struct run_totals_process *const *)pa,
                       *(const struct run_totals_process *const *)pb);
}

static void sort(const struct run_totals_process **list, size_t n,
                 int (*order)(const void *a, const void *b))
{
    if (n)
        qsort(list, n, sizeof *list, order);
}

void leak_coverage_make(struct leak_coverage *s, const struct run_totals *k, bool growth)
{
    const struct run_totals_process **sorted = xcalloc(k->nprocesses, sizeof *sorted);

    s->seen = xcalloc(k->nprocesses, sizeof *s->seen);
    s->unseen = xcalloc(k->nprocesses, sizeof *s->unseen);
    s->nseen = s->nunseen = 0;
    s->growth = growth;
    for (size_t i = 0; i < k->nprocesses; i++)
        sorted[i] = &k->process[i];
    sort(sorted, k->nprocesses, by_pid_last_first);
    for (size_t i = 0, next; i < k->nprocesses; i = next) {
        bool looked = false;

        for (next = i; next < k->nprocesses && sorted[next]->pid == sorted[i]->pid; next++)
            looked |= growth ? sorted[next]->marks >= GROWTH_MARKS : sorted[next]->leak_checked;
        if (looked)
            s->seen[s->nseen++] = sorted[i];
        else
            s->unseen[s->nunseen++] = sorted[i];
    }
    sort(s->seen, s->nseen, last_first);
    sort(s->unseen, s->nunseen, last_first);
    free(sorted);
}

void leak_coverage_release(struct leak_coverage *s)
{
    free(s->seen);
    free(s->unseen);
    *s = (struct leak_coverage){0};
}

static void print(const char *what, const struct run_totals_process *const *list, size_t n,
                  const char *why)
{
    struct strbuf sb = STRBUF_INIT;

    if (!n)
        return;
    for (size_t i = 0; i < n && i < PROCESSES_NAMED; i++)
        strbuf_addf(&sb, "%s%s %" PRIu32, i ? ", " : "", list[i]->comm, list[i]->pid);
    flame_warn("leak: %s %zu %s%s: %s%s", what, n, n == 1 ? "process" : "processes", why, sb.buf,
               n > PROCESSES_NAMED ? "..." : "");
    strbuf_release(&sb);
}

/* By enum trace_unlooked. */
static const char *const reasons[] = {
    LEAK_NOT_LOOKED,
    "of which dlmopen has loaded libraries with a malloc of their own, which may keep blocks",
    "of which a library's malloc is bound past the recorder (RTLD_DEEPBIND), and may keep blocks",
};

static size_t reason_of(const struct run_totals_process *p)
{
    return p->unlooked < ARRAY_LEN(reasons) ? p->unlooked : 0;
}

const char *leak_coverage_why(const struct run_totals_process *p)
{
    return reasons[reason_of(p)];
}

static void print_unscanned(const struct leak_coverage *s, size_t reason)
{
    const struct run_totals_process **list = xcalloc(s->nunseen + 1, sizeof *list);
    struct strbuf why = STRBUF_INIT;
    size_t n = 0;

    for (size_t i = 0; i < s->nunseen; i++)
        if (reason_of(s->unseen[i]) == reason)
            list[n++] = s->unseen[i];
    strbuf_addf(&why, ", %s%s", reason ? "" : "which ", reasons[reason]);
    print("heap not scanned in", list, n, why.buf);
    strbuf_release(&why);
    free(list);
}

void leak_coverage_print_unseen(const struct leak_coverage *s)
{
    if (s->growth)
        print("fewer than 10 marks in", s->unseen, s->nunseen, "");
    for (size_t i = 0; !s->growth && i < ARRAY_LEN(reasons); i++)
        print_unscanned(s, i);
}

void leak_coverage_print(const struct leak_coverage *s)
{
    print(s->growth ? "compared the passes of" : "heap scanned at the end of", s->seen, s->nseen,
          "");
    leak_coverage_print_unseen(s);
}
