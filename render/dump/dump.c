#include "render/dump/dump.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/trace/lifeclass.h"
#include "common/trace/sleepclass.h"
#include "common/trace/trace_moments.h"
#include "render/dump/dumpintervals.h"
#include "render/dump/dumpnames.h"
#include "render/text/offkind.h"

static const char *recorder_name(uint32_t recorder)
{
    return recorder == TRACE_RECORDER_OFF ? "off" : recorder == TRACE_RECORDER_MEM ? "mem" : "?";
}

static void dump_header(const struct trace *t, struct recordtext *w)
{
    const struct trace_header *h = &t->header;

    recordtext_record(w);
    recordtext_string(w, "recorder", recorder_name(h->recorder));
    recordtext_number(w, "version", h->version);
    recordtext_address(w, "features", h->features);
    recordtext_number(w, "units", h->units);
    recordtext_number(w, "pid", h->pid);
    recordtext_number(w, "ppid", h->ppid);
    recordtext_number(w, "pid_namespace", h->pid_namespace);
    recordtext_string(w, "exe", t->exe);
    recordtext_string(w, "comm", t->comm);
    recordtext_bytes(w, "title", h->title, strnlen(h->title, sizeof h->title));
    recordtext_number(w, "start_realtime_ns", h->start_realtime_ns);
    recordtext_number(w, "start_monotonic_ns", h->start_monotonic_ns);
    recordtext_number(w, "end_monotonic_ns", h->end_monotonic_ns);
    recordtext_number(w, "depth", h->depth);
    recordtext_number(w, "sample_bytes", h->sample_bytes);
    recordtext_number(w, "peak_bytes", h->peak_bytes);
    recordtext_number(w, "peak_epoch", h->peak_epoch);
    recordtext_number(w, "lost_calls", h->lost_calls);
    recordtext_number(w, "lost_bytes", h->lost_bytes);
    recordtext_number(w, "lost_frees", h->lost_frees);
    recordtext_number(w, "fallback_stacks", h->fallback_stacks);
    recordtext_number(w, "stops", h->stops);
    recordtext_number(w, "cost_ns", h->cost_ns);
    recordtext_number(w, "hz", h->hz);
    recordtext_number(w, "sandbox_calls", h->sandbox_calls);
    recordtext_number(w, "sandbox_bytes", h->sandbox_bytes);
    recordtext_number(w, "startup_ns", h->startup_ns);
    recordtext_number(w, "unjudged_frees", h->unjudged_frees);
    recordtext_number(w, "unnamed_python", h->unnamed_python);
    recordtext_number(w, "lost_mappings", h->lost_mappings);
    recordtext_number(w, "paused_calls", h->paused_calls);
    recordtext_number(w, "paused_bytes", h->paused_bytes);
    recordtext_number(w, "kept_snapshots", h->kept_snapshots);
    recordtext_number(w, "unkept_snapshots", h->unkept_snapshots);
    recordtext_number(w, "traces", h->traces);
    recordtext_number(w, "fork_pid", h->fork_pid);
    recordtext_number(w, "fork_start_ns", h->fork_start_ns);
    recordtext_number(w, "missing_rows", t->missing_rows);
    recordtext_record_end(w);
    for (size_t i = 0; i < t->nargs; i++) {
        recordtext_record(w);
        recordtext_number(w, "argument", i);
        recordtext_bytes(w, "text", t->args[i].s, t->args[i].len);
        recordtext_record_end(w);
    }
    for (size_t i = 0; i < t->ntitles; i++) {
        recordtext_record(w);
        recordtext_number(w, "title_of", t->titles[i].pid);
        recordtext_bytes(w, "text", t->titles[i].text.s, t->titles[i].text.len);
        recordtext_record_end(w);
    }
}

static void dump_modules(const struct trace *t, struct recordtext *w)
{
    char id[2 * TRACE_BUILD_ID_MAX + 1];

    for (size_t i = 0; i < t->nmodules; i++) {
        const struct trace_module *m = &t->modules[i].m;
        uint32_t n = m->build_id_size < TRACE_BUILD_ID_MAX ? m->build_id_size : TRACE_BUILD_ID_MAX;

        id[0] = '\0';
        for (uint32_t k = 0; k < n; k++)
            snprintf(id + 2 * k, 3, "%02x", m->build_id[k]);
        recordtext_record(w);
        recordtext_address(w, "start", m->start);
        recordtext_address(w, "end", m->end);
        recordtext_address(w, "bias", m->bias);
        recordtext_number(w, "first_epoch", m->first_epoch);
        recordtext_number(w, "end_epoch", m->end_epoch);
        recordtext_string(w, "build_id", id);
        recordtext_string(w, "path", t->modules[i].path);
        recordtext_record_end(w);
    }
}

static void dump_origins(const struct trace *t, struct recordtext *w)
{
    for (size_t i = 0; i < t->norigins; i++) {
        const struct trace_origin_view *o = &t->origins[i];

        recordtext_record(w);
        recordtext_number(w, "id", i);
        recordtext_number(w, "pid", o->facts.pid);
        recordtext_number(w, "start_realtime_ns", o->facts.start_realtime_ns);
        recordtext_number(w, "start_monotonic_ns", o->facts.start_monotonic_ns);
        recordtext_string(w, "path", o->path);
        recordtext_record_end(w);
    }
}

static void dump_inherited(const struct trace *t, struct recordtext *w)
{
    for (size_t i = 0; i < t->ninherited; i++) {
        const struct trace_inherited_row *r = &t->inherited[i];

        recordtext_record(w);
        recordtext_number(w, "origin", r->origin);
        recordtext_number(w, "row", r->row);
        recordtext_number(w, "blocks", r->blocks);
        recordtext_number(w, "bytes", r->bytes);
        recordtext_record_end(w);
    }
}

static void dump_off_thread(const struct trace_off_thread *th, struct recordtext *w)
{
    recordtext_number(w, "pid", th->pid);
    recordtext_number(w, "sleeps", th->sleeps);
    recordtext_number(w, "wall_ns", th->wall_ns);
    recordtext_number(w, "cpu_ns", th->cpu_ns);
    recordtext_number(w, "runq_ns", th->runq_ns);
}

static void dump_threads(const struct trace *t, struct recordtext *w)
{
    for (uint32_t id = 1; id < t->thread_limit; id++) {
        const struct trace_thread *th = trace_thread_at(t, id);
        const struct trace_off_thread *off = trace_off_thread_at(t, id);

        if (!th)
            continue;
        recordtext_record(w);
        recordtext_number(w, "id", id);
        recordtext_number(w, "tid", th->tid);
        recordtext_number(w, "uses", th->uses);
        recordtext_bytes(w, "comm", th->comm, strnlen(th->comm, sizeof th->comm));
        if (off) {
            dump_off_thread(off, w);
        } else {
            recordtext_number(w, "events", th->events);
            recordtext_number(w, "cost_samples", th->cost_samples);
            recordtext_number(w, "cost_ns", th->cost_ns);
            recordtext_signed(w, "live_bytes", (int64_t)th->live_bytes);
            recordtext_number(w, "skipped", th->skipped);
        }
        recordtext_record_end(w);
    }
}

/* Writes a class: its histogram and its bounds. The last class has no upper bound, and neither
 * has that of blocks whose birth is not known. */
static void dump_class(uint64_t number, struct recordtext *w)
{
    static const char *const of[HISTOGRAMS] = {[HISTOGRAM_SIZES] = "size",
                                               [HISTOGRAM_LIFETIMES] = "lifetime",
                                               [HISTOGRAM_LIFETIMES_BYTES] = "lifetime-bytes",
                                               [HISTOGRAM_AGES] = "age",
                                               [HISTOGRAM_AGES_BYTES] = "age-bytes"};
    uint64_t from, to;

    if (sleepclass_is(number)) {
        recordtext_string(w, "class", "sleep");
        if (sleepclass_class(number) == SLEEPCLASS_UNKNOWN)
            return;
        sleepclass_bounds(sleepclass_class(number), &from, &to);
        recordtext_number(w, "from", from);
        recordtext_number(w, "to", to);
        return;
    }
    recordtext_string(w, "class", of[lifeclass_of(number)]);
    lifeclass_bounds(lifeclass_of(number), lifeclass_class(number), &from, &to);
    if (!to)
        return;
    recordtext_number(w, "from", from);
    if (to != UINT64_MAX)
        recordtext_number(w, "to", to);
}

static void dump_node(const struct trace *t, const struct trace_node *n, struct recordtext *w)
{
    static const char *const kinds[] = {"none",   "root",    "pc",    "pc-exact", "truncated",
                                        "name",   "kernel",  "futex", "waker",    "inherited",
                                        "region", "mapping", "tag",   "resident", "part",
                                        "named",  "class"};
    static const char *const mappings[TRACE_MAPPINGS] = {
        [TRACE_MAPPING_ANONYMOUS] = "anonymous", [TRACE_MAPPING_FILE] = "file",
        [TRACE_MAPPING_SHARED] = "shared",       [TRACE_MAPPING_STACK] = "stack",
        [TRACE_MAPPING_BREAK] = "break",         [TRACE_MAPPING_ALLOCATOR] = "allocator"};
    static const char *const resident[TRACE_RESIDENT_KINDS] = {
        [TRACE_RESIDENT_HUGE] = "huge",       [TRACE_RESIDENT_FORKED] = "forked",
        [TRACE_RESIDENT_FILE] = "file",       [TRACE_RESIDENT_FILE_SHARED] = "file-shared",
        [TRACE_RESIDENT_SHMEM] = "shmem",     [TRACE_RESIDENT_ROUNDED] = "rounded",
        [TRACE_RESIDENT_AROUND] = "around",   [TRACE_TOUCHED_MINOR] = "minor-fault",
        [TRACE_TOUCHED_MAJOR] = "major-fault"};
    static const char *const parts[TRACE_PARTS] = {
        [TRACE_PART_PROGRAM] = "program",   [TRACE_PART_LIBRARIES] = "libraries",
        [TRACE_PART_STACKS] = "stacks",     [TRACE_PART_ALLOCATOR] = "allocator",
        [TRACE_PART_RECORDER] = "recorder", [TRACE_PART_PAUSED] = "paused",
        [TRACE_PART_OTHER] = "other",       [TRACE_PART_INHERITED] = "inherited"};
    struct trace_string name;

    recordtext_string(w, "kind", n->kind < ARRAY_LEN(kinds) ? kinds[n->kind] : "?");
    switch (n->kind) {
    case TRACE_NODE_ROOT:
        recordtext_number(w, "epoch", n->addr >> 32);
        recordtext_number(w, "thread", (uint32_t)n->addr);
        break;
    case TRACE_NODE_NAME:
    case TRACE_NODE_KERNEL:
        name = trace_node_name(t, n);
        recordtext_bytes(w, "name", name.s, name.len);
        break;
    case TRACE_NODE_TRUNCATED:
        recordtext_number(w, "frames", n->addr);
        break;
    case TRACE_NODE_INHERITED:
        recordtext_number(w, "origin", n->addr >> 32);
        recordtext_number(w, "row", (uint32_t)n->addr);
        break;
    case TRACE_NODE_REGION:
        recordtext_string(w, "region", t->regions[n->addr]);
        break;
    case TRACE_NODE_TAG:
        recordtext_string(w, "tag", t->regions[n->addr]);
        break;
    case TRACE_NODE_MAPPING:
        recordtext_string(w, "mapping", mappings[n->addr]);
        break;
    case TRACE_NODE_RESIDENT:
        recordtext_string(w, "resident", resident[n->addr]);
        break;
    case TRACE_NODE_PART:
        recordtext_string(w, "part", parts[n->addr]);
        break;
    case TRACE_NODE_NAMED:
        recordtext_string(w, "name", t->regions[n->addr]);
        break;
    case TRACE_NODE_CLASS:
        dump_class(n->addr, w);
        break;
    case TRACE_NODE_WAKER:
        recordtext_number(w, "stack", n->addr);
        break;
    default:
        recordtext_address(w, "addr", n->addr);
    }
}

static void dump_nodes(const struct trace *t, struct recordtext *w)
{
    for (uint32_t id = 1; id < t->node_limit; id++) {
        const struct trace_node *n = &t->nodes[id];

        if (n->kind == TRACE_NODE_NONE)
            continue;
        recordtext_record(w);
        recordtext_number(w, "id", id);
        recordtext_number(w, "parent", n->parent);
        dump_node(t, n, w);
        recordtext_record_end(w);
    }
}

/* Writes a row's columns. The trace's header describes them, so that any recorder's rows can be
 * dumped. */
static void dump_columns(const struct trace_header *h, const void *row, size_t size,
                         struct recordtext *w)
{
    for (uint32_t i = 0; i < h->columns_used; i++) {
        const struct trace_column *c = &h->columns[i];
        char name[sizeof c->name + 1] = "";
        uint64_t v = 0;

        if ((size_t)c->offset + c->width > size || c->width > sizeof v)
            continue;
        memcpy(name, c->name, sizeof c->name);
        memcpy(&v, (const char *)row + c->offset, c->width);
        recordtext_number(w, name, v);
    }
}

void dump_off_kind(uint16_t kind, struct recordtext *w)
{
    const char *name = offkind_name(kind);

    if (name)
        recordtext_string(w, "kind", name);
    else
        recordtext_number(w, "kind", kind);
}

/* Writes the flags of a row: "leaked,region"; "none". */
static void dump_row_flags(uint16_t flags, struct recordtext *w)
{
    static const struct {
        unsigned flag;
        const char *name;
    } all[] = {
        {TRACE_ROW_INHERITED, "inherited"},
        {TRACE_ROW_LEAKED, "leaked"},
        {TRACE_ROW_LEAKED_BY_LEAK, "leaked-by-leak"},
        {TRACE_ROW_INNER, "inner"},
        {TRACE_ROW_REACHED, "reached"},
        {TRACE_ROW_REGION, "region"},
        {TRACE_ROW_GROWTH, "growth"},
        {TRACE_ROW_MAPPED, "mapped"},
        {TRACE_ROW_RESIDENT, "resident"},
        {TRACE_ROW_SWAPPED, "swapped"},
        {TRACE_ROW_SLACK, "slack"},
        {TRACE_ROW_FAULT, "fault"},
        {TRACE_ROW_CLASS, "class"},
        {TRACE_ROW_TOUCHED, "touched"},
        {TRACE_ROW_KEPT, "kept"},
    };
    struct strbuf sb = STRBUF_INIT;
    unsigned rest = flags;

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (flags & all[i].flag)
            strbuf_addf(&sb, "%s%s", sb.len ? "," : "", all[i].name);
        rest &= ~all[i].flag;
    }
    if (rest)
        strbuf_addf(&sb, "%s0x%x", sb.len ? "," : "", rest);
    recordtext_string(w, "flags", sb.len ? sb.buf : "none");
    strbuf_release(&sb);
}

static void dump_rows(const struct trace *t, struct recordtext *w)
{
    const struct trace_off_row *off = trace_off_rows(t);

    for (uint32_t id = 1; id < t->row_limit; id++) {
        const struct trace_row *r = &t->rows[id];

        if (off ? !off[id].node : !trace_row_used(r))
            continue;
        recordtext_record(w);
        recordtext_number(w, "id", id);
        recordtext_number(w, "node", off ? off[id].node : r->node);
        recordtext_number(w, "thread", off ? off[id].thread : r->thread);
        if (off) {
            dump_off_kind(off[id].kind, w);
            dump_columns(&t->header, &off[id], sizeof off[id], w);
        } else {
            dump_row_flags(r->flags, w);
            dump_columns(&t->header, r, sizeof *r, w);
        }
        recordtext_record_end(w);
    }
}

static void dump_misuses(const struct trace *t, struct recordtext *w)
{
    static const char *const kinds[TRACE_MISUSE_KINDS] = {
        "?",        "double-free", "invalid-free", "realloc-freed", "realloc-invalid",
        "mismatch", "wrong-size",
    };

    for (size_t i = 0; i < t->nmisuses; i++) {
        const struct trace_misuse *m = &t->misuses[i];

        recordtext_record(w);
        recordtext_string(w, "kind", kinds[m->kind]);
        recordtext_number(w, "count", m->count);
        recordtext_number(w, "call", m->call);
        recordtext_number(w, "freed_by", m->freed_by);
        recordtext_number(w, "made_by", m->made_by);
        recordtext_number(w, "where", m->where);
        recordtext_number(w, "thread", m->thread);
        recordtext_number(w, "freed_in", m->freed_in);
        recordtext_number(w, "node", m->node);
        recordtext_number(w, "alloc_node", m->alloc_node);
        recordtext_number(w, "free_node", m->free_node);
        recordtext_address(w, "addr", m->addr);
        recordtext_number(w, "size", m->size);
        recordtext_number(w, "given", m->given);
        recordtext_number(w, "offset", m->offset);
        recordtext_number(w, "frees", m->frees);
        recordtext_number(w, "forgets", m->forgets);
        recordtext_record_end(w);
    }
}

/* Writes the last scan for resident memory. */
static void dump_resident(const struct trace *t, struct recordtext *w)
{
    const struct trace_resident *r = &t->resident;

    if (!r->monotonic_ns)
        return;
    recordtext_record(w);
    recordtext_number(w, "monotonic_ns", r->monotonic_ns);
    recordtext_number(w, "kernel_bytes", r->kernel_bytes);
    recordtext_number(w, "bytes", r->bytes);
    recordtext_number(w, "swapped_bytes", r->swapped_bytes);
    recordtext_number(w, "blocks", r->blocks);
    recordtext_number(w, "asked_bytes", r->asked_bytes);
    recordtext_number(w, "usable_bytes", r->usable_bytes);
    recordtext_number(w, "slack_bytes", r->slack_bytes);
    recordtext_number(w, "took_ns", r->took_ns);
    recordtext_number(w, "error", r->error);
    recordtext_number(w, "stood", r->stood);
    recordtext_record_end(w);
}

/* Writes each mark, and behind it the rows whose live amount differs from that at the mark
 * before, as the file has them: their ids are not checked. */
static void dump_marks(const struct trace *t, struct recordtext *w)
{
    for (size_t i = 0; i < t->nmarks; i++) {
        const struct trace_mark_view *m = &t->marks[i];

        recordtext_record(w);
        recordtext_number(w, "id", i);
        recordtext_string(w, "name", m->name);
        recordtext_number(w, "number", m->number);
        recordtext_number(w, "entries", m->n);
        recordtext_record_end(w);
        for (size_t k = 0; k < m->n; k++) {
            recordtext_record(w);
            recordtext_number(w, "of", i);
            recordtext_number(w, "row", m->entries[k].row);
            recordtext_signed(w, "blocks", m->entries[k].blocks);
            recordtext_signed(w, "bytes", m->entries[k].bytes);
            recordtext_record_end(w);
        }
    }
}

/* One class of one stack's blocks. */
struct classed {
    uint32_t stack, number;
    uint64_t blocks, bytes;
};

static int by_stack(const void *pa, const void *pb)
{
    const struct classed *a = pa, *b = pb;

    if (a->stack != b->stack)
        return a->stack < b->stack ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Collects the classes that rows count, summed over the rows of several threads. */
static struct classed *collect_classes(const struct trace *t, size_t *n)
{
    struct classed *all = NULL;
    size_t room = 0, used = 0;

    *n = 0;
    for (uint32_t id = 0; id < t->row_limit; id++) {
        const struct trace_row *r = &t->rows[id];
        const struct trace_node *node = &t->nodes[r->node];

        if (!trace_row_used(r) || !(r->flags & TRACE_ROW_CLASS) || node->kind != TRACE_NODE_CLASS ||
            !r->alloc_calls)
            continue;
        GROW(all, *n, room);
        all[(*n)++] =
            (struct classed){node->parent, (uint32_t)node->addr, r->alloc_calls, r->alloc_bytes};
    }
    if (!*n)
        return all;
    qsort(all, *n, sizeof *all, by_stack);
    for (size_t i = 1; i < *n; i++)
        if (by_stack(&all[used], &all[i]) == 0) {
            all[used].blocks += all[i].blocks;
            all[used].bytes += all[i].bytes;
        } else {
            all[++used] = all[i];
        }
    *n = used + 1;
    return all;
}

static void dump_histograms(const struct trace *t, struct recordtext *w)
{
    struct classed *all;
    size_t n;

    if (t->header.recorder != TRACE_RECORDER_MEM)
        return;
    all = collect_classes(t, &n);
    for (size_t i = 0; i < n; i++) {
        recordtext_record(w);
        recordtext_number(w, "stack", all[i].stack);
        dump_class(all[i].number, w);
        recordtext_number(w, "blocks", all[i].blocks);
        recordtext_number(w, "bytes", all[i].bytes);
        recordtext_record_end(w);
    }
    free(all);
}

/* Writes each moment, and behind it the changes of rows since the one before, as the file has
 * them: their ids are not checked. */
static void dump_moments(const struct trace *t, struct recordtext *w)
{
    for (size_t i = 0; i < t->nmoments; i++) {
        const struct trace_moment_view *m = &t->moments[i];
        struct trace_changes c;
        struct trace_change one;

        recordtext_record(w);
        recordtext_number(w, "id", i);
        recordtext_number(w, "monotonic_ns", m->m.monotonic_ns);
        recordtext_number(w, "us", trace_moment_shown(t, m->m.monotonic_ns) / 1000);
        recordtext_number(w, "rss_bytes", m->m.rss_bytes);
        recordtext_number(w, "last", m->m.flags & TRACE_MOMENT_LAST ? 1 : 0);
        recordtext_number(w, "entries", m->m.entries);
        recordtext_record_end(w);
        for (trace_changes_begin(&c, m); trace_changes_next(&c, &one);) {
            recordtext_record(w);
            recordtext_number(w, "of", i);
            recordtext_number(w, "row", one.row);
            recordtext_signed(w, "blocks", (int64_t)one.blocks);
            recordtext_signed(w, "bytes", (int64_t)one.bytes);
            recordtext_record_end(w);
        }
    }
}

static void dump_names_of(const struct trace *t, struct recordtext *w)
{
    dump_names(t->names, w);
}

void dump_trace(const struct trace *t, unsigned sections, struct recordtext *w)
{
    static const struct {
        const char *name;
        void (*dump)(const struct trace *t, struct recordtext *w);
    } all[] = {{"header", dump_header},
               {"module", dump_modules},
               {"origin", dump_origins},
               {"inherited", dump_inherited},
               {"thread", dump_threads},
               {"node", dump_nodes},
               {"row", dump_rows},
               {"mark", dump_marks},
               {"misuse", dump_misuses},
               {"resident", dump_resident},
               {"histogram", dump_histograms},
               {"moment", dump_moments},
               {"name", dump_names_of},
               {"interval", dump_intervals},
               {"life", dump_lives},
               {"region", dump_regions}};

    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        if (sections & 1u << i) {
            recordtext_section(w, all[i].name);
            all[i].dump(t, w);
        }
}
