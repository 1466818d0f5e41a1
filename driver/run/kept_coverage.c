#include "driver/run/kept_coverage.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/strbuf.h"
#include "driver/run/runtimes.h"

#define NAMED 4u

static int by_pid(const void *pa, const void *pb)
{
    const struct run_totals_process *a = *(const struct run_totals_process *const *)pa,
                                    *b = *(const struct run_totals_process *const *)pb;

    return a->pid < b->pid ? -1 : a->pid > b->pid ? 1 : 0;
}

static void print_unsearched(const struct run_totals *k)
{
    const struct run_totals_process **sorted = xcalloc(k->nprocesses + 1, sizeof *sorted);
    struct strbuf sb = STRBUF_INIT;
    size_t unsearched = 0;

    for (size_t i = 0; i < k->nprocesses; i++)
        sorted[i] = &k->process[i];
    qsort(sorted, k->nprocesses, sizeof *sorted, by_pid);
    for (size_t i = 0, next; i < k->nprocesses; i = next) {
        bool searched = false;

        for (next = i; next < k->nprocesses && sorted[next]->pid == sorted[i]->pid; next++)
            searched = searched || sorted[next]->kept_searched;
        if (searched)
            continue;
        if (unsearched++ < NAMED)
            strbuf_addf(&sb, "%s%s %" PRIu32, unsearched > 1 ? ", " : "", sorted[i]->comm,
                        sorted[i]->pid);
    }
    if (unsearched)
        flame_warn("who keeps memory is not known of %zu %s, which did not come to exit, or could "
                   "not write what was found: %s%s",
                   unsearched, unsearched == 1 ? "process" : "processes", sb.buf,
                   unsearched > NAMED ? ", ..." : "");
    strbuf_release(&sb);
    free(sorted);
}

void kept_coverage_print(const struct recording *r)
{
    if (!r->attached.is) /* otherwise the summary has said it */
        print_unsearched(&r->taken);
    runtimes_print_heaps(r);
}
