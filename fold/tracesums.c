#include "fold/tracesums.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/trace_origins.h"
#include "fold/moments.h"
#include "fold/symbols/container_file.h"
#include "fold/symbols/perfmap.h"

struct tracesums {
    const struct fold_options *opt;
    struct trace_origins *origins;
    struct trace_merge *sums;
};

/* Whether names of the process hold for it alone: those of a map, and of the files of a container.
 */
static bool has_names(const struct trace *t)
{
    uint32_t pid = t->header.pid;

    return perfmap_is_there(pid, trace_process_since(t)) || container_file_is_elsewhere(pid);
}

struct tracesums *tracesums_new(const struct fold_options *opt)
{
    struct tracesums *s = xcalloc(1, sizeof *s);
    struct trace_merge_options o = {.pid = opt->pid,
                                    .threads = opt->tid || opt->ncomms,
                                    .own = opt->own,
                                    .has_names = has_names};

    s->opt = opt;
    s->origins = trace_origins_new();
    s->sums = trace_merge_new(&o);
    return s;
}

void tracesums_free(struct tracesums *s)
{
    if (!s)
        return;
    trace_merge_free(s->sums);
    trace_origins_free(s->origins);
    free(s);
}

int tracesums_add(struct tracesums *s, struct trace *t)
{
    int status;

    if (s->opt->tree)
        process_tree_place(s->opt->tree, t);
    if (!s->opt->own)
        trace_inherit_and_warn(t, s->origins, s->opt->quiet);
    status = fold_when_apply(s->opt, t, s->origins);
    if (status)
        trace_free(t);
    else
        trace_merge_add(s->sums, t);
    return status;
}

void tracesums_add_flagged(struct tracesums *s, const struct trace *t, uint16_t flags)
{
    trace_merge_add_flagged(s->sums, t, flags);
}

struct trace *const *tracesums_get(struct tracesums *s, size_t *n)
{
    return trace_merge_result(s->sums, n);
}
