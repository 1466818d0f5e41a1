#include "tracer/offcpu/eventtext.h"

#include <inttypes.h>

#include "tracer/offcpu/calls.h"

void event_add_text(struct strbuf *sb, const struct off_event *e)
{
    static const char *const kinds[] = {"begin",     "end",    "exiting",  "exec",
                                        "entry",     "exit",   "signal",   "stopped",
                                        "continued", "sample", "unsampled"};

    strbuf_addf(sb, "%" PRIu64 ".%06" PRIu64 " %d/%d %s", e->time / 1000000000u,
                e->time % 1000000000u / 1000u, (int)e->pid, (int)e->tid, kinds[e->kind]);
    if (e->kind == OFF_EXIT) /* its arguments are in the line of its entry */
        strbuf_addf(sb, " %s", call_name(e->nr));
    else if (e->kind == OFF_ENTRY || e->attached_in_call)
        strbuf_addf(sb, " %s(%" PRIx64 ", %" PRIx64 ", %" PRIx64 ", %" PRIx64 ")", call_name(e->nr),
                    e->args[0], e->args[1], e->args[2], e->args[3]);
    if (e->kind == OFF_SIGNAL || e->kind == OFF_STOPPED)
        strbuf_addf(sb, " %d from %d", e->nr, (int)e->sender);
    strbuf_addf(sb, " = %" PRId64 "%s%s%s", e->result, e->newborn ? " newborn" : "",
                e->cannot_block ? " cannot-block" : "", e->restarted ? " restarted" : "");
    if (e->stopped.ns)
        strbuf_addf(sb, " stopped %" PRIu64 " ns", e->stopped.ns);
}
