/* leak.json: all that is known, for programs. docs/leaks.md describes it. */
#include <inttypes.h>

#include "driver/leak/leakreport.h"
#include "driver/leak/misuselines.h"
#include "render/text/json.h"

static void add_string(struct strbuf *sb, const char *s)
{
    json_add_string(sb, s, strlen(s), 0);
}

static void add_command(struct strbuf *sb, char *const *command)
{
    strbuf_addstr(sb, "  \"command\": [");
    for (size_t i = 0; command[i]; i++) {
        if (i)
            strbuf_addstr(sb, ", ");
        add_string(sb, command[i]);
    }
    strbuf_addstr(sb, "],\n");
}

static void add_limit(struct strbuf *sb, const char *name, uint64_t limit)
{
    if (limit != UINT64_MAX)
        strbuf_addf(sb, "\"%s\": %" PRIu64, name, limit);
    else
        strbuf_addf(sb, "\"%s\": null", name);
}

static void add_allowed(struct strbuf *sb, const struct leak_report *r)
{
    bool none = r->max_bytes == UINT64_MAX && r->max_blocks == UINT64_MAX;

    strbuf_addstr(sb, "  \"allowed\": {");
    add_limit(sb, "bytes", none ? 0 : r->max_bytes);
    strbuf_addstr(sb, ", ");
    add_limit(sb, "blocks", none ? 0 : r->max_blocks);
    strbuf_addstr(sb, "},\n");
}

static void add_sums(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addstr(sb, "  \"sums\": {");
    for (int class = 0; class < LEAK_CLASSES; class ++) {
        uint64_t bytes, blocks;

        leak_report_sum(r, (enum leak_class) class, &bytes, &blocks);
        strbuf_addf(sb, "%s\"%s\": {\"bytes\": %" PRIu64 ", \"blocks\": %" PRIu64 "}",
                    class ? ", " : "", leak_class_names[class], bytes, blocks);
    }
    strbuf_addstr(sb, "},\n");
}

static void add_processes(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addstr(sb, "  \"processes\": [");
    for (size_t i = 0; i < r->nprocesses; i++) {
        const struct leak_report_process *p = &r->processes[i];

        strbuf_addf(sb, "%s\n    {\"pid\": %" PRIu32 ", \"name\": ", i ? "," : "", p->pid);
        add_string(sb, p->name);
        strbuf_addstr(sb, ", \"program\": ");
        add_string(sb, p->program);
        strbuf_addf(sb, ", \"looked\": %s}", p->looked ? "true" : "false");
    }
    strbuf_addstr(sb, "\n  ],\n");
}

static void add_frame(struct strbuf *sb, const struct leak_frame *f)
{
    strbuf_addstr(sb, "{\"function\": ");
    add_string(sb, f->function);
    if (*f->module) {
        strbuf_addstr(sb, ", \"module\": ");
        add_string(sb, f->module);
    }
    if (f->file) {
        strbuf_addstr(sb, ", \"file\": ");
        add_string(sb, f->file);
        if (f->line)
            strbuf_addf(sb, ", \"line\": %u", f->line);
    }
    strbuf_addf(sb, "%s}", f->inlined ? ", \"inlined\": true" : "");
}

static void add_who(struct strbuf *sb, const char *what, const char *number, uint32_t n,
                    const char *name)
{
    strbuf_addf(sb, ", \"%s\": {", what);
    if (n)
        strbuf_addf(sb, "\"%s\": %" PRIu32 ", ", number, n);
    strbuf_addstr(sb, "\"name\": ");
    add_string(sb, name);
    strbuf_addch(sb, '}');
}

static void add_leak(struct strbuf *sb, const struct leak *l)
{
    const struct leak_frame *place = leak_place(l);

    strbuf_addf(sb, "    {\"class\": \"%s\", \"bytes\": %" PRIu64 ", \"blocks\": %" PRIu64,
                leak_class_names[l->class], l->bytes, l->blocks);
    add_who(sb, "process", "pid", l->pid, l->process);
    if (*l->thread)
        add_who(sb, "thread", "tid", l->tid, l->thread);
    if (l->region) {
        strbuf_addstr(sb, ", \"region\": ");
        add_string(sb, l->region);
    }
    if (l->class == LEAK_GROWTH)
        strbuf_addf(sb, ", \"passes\": %" PRIu64 ", \"fit\": %.6f", l->passes, l->fit);
    if (l->kept_by) {
        strbuf_addstr(sb, ", \"kept_by\": ");
        add_string(sb, l->kept_by);
    }
    if (l->through) {
        strbuf_addstr(sb, ", \"through\": ");
        add_string(sb, l->through);
    }
    if (place)
        strbuf_addf(sb, ", \"place\": %zu", (size_t)(place - l->frames));
    strbuf_addstr(sb, ",\n     \"frames\": [");
    for (size_t i = 0; i < l->nframes; i++) {
        strbuf_addstr(sb, i ? ",\n       " : "\n       ");
        add_frame(sb, &l->frames[i]);
    }
    strbuf_addstr(sb, "]}");
}

static void add_frames(struct strbuf *sb, const struct misuse *m, enum misuse_stack which,
                       const char *key)
{
    const struct leak *l = &m->at[which];
    const struct leak_frame *place = misuse_place(m, which);

    if (!l->nframes)
        return;
    strbuf_addf(sb, ",\n     \"%s\": {", key);
    if (place)
        strbuf_addf(sb, "\"place\": %zu, ", (size_t)(place - l->frames));
    strbuf_addstr(sb, "\"frames\": [");
    for (size_t i = 0; i < l->nframes; i++) {
        strbuf_addstr(sb, i ? ",\n       " : "\n       ");
        add_frame(sb, &l->frames[i]);
    }
    strbuf_addstr(sb, "]}");
}

static void add_name(struct strbuf *sb, const char *key, const char *name)
{
    if (*name)
        strbuf_addf(sb, ", \"%s\": \"%s\"", key, name);
}

static void add_misuse(struct strbuf *sb, const struct misuse *m)
{
    const struct trace_misuse *f = &m->facts;
    bool unknown = f->kind == TRACE_MISUSE_INVALID_FREE || f->kind == TRACE_MISUSE_REALLOC_INVALID;

    strbuf_addf(sb, "    {\"kind\": \"%s\", \"count\": %" PRIu64 ", \"address\": \"0x%" PRIx64 "\"",
                misuse_kind_names[f->kind], f->count, f->addr);
    if (!unknown || f->where == TRACE_WHERE_INSIDE)
        strbuf_addf(sb, ", \"bytes\": %" PRIu64, f->size);
    add_name(sb, "call", misuse_call_names[f->call]);
    add_name(sb, "made_by", misuse_made_names[f->made_by]);
    add_name(sb, "freed_by", misuse_call_names[f->freed_by]);
    add_name(sb, "where", misuse_where_names[f->where]);
    if (f->where == TRACE_WHERE_INSIDE)
        strbuf_addf(sb, ", \"offset\": %" PRIu64, f->offset);
    if (f->kind == TRACE_MISUSE_SIZE)
        strbuf_addf(sb, ", \"given_bytes\": %" PRIu64, f->given);
    if (f->forgets)
        strbuf_addf(sb, ", \"frees_remembered\": %" PRIu64, f->forgets);
    add_who(sb, "process", "pid", m->pid, m->process);
    if (*m->who.thread)
        add_who(sb, "thread", "tid", m->who.tid, m->who.thread);
    if (*m->freed.thread)
        add_who(sb, "freed_in", "tid", m->freed.tid, m->freed.thread);
    add_frames(sb, m, MISUSE_CALL, "at");
    add_frames(sb, m, MISUSE_ALLOC, "allocated");
    add_frames(sb, m, MISUSE_FREE, "freed");
    strbuf_addch(sb, '}');
}

static void add_misuses(struct strbuf *sb, const struct misuse_list *l)
{
    strbuf_addf(sb, "  \"unjudged_frees\": %" PRIu64 ",\n  \"misuses\": [", l->unjudged);
    for (size_t i = 0; i < l->n; i++) {
        strbuf_addstr(sb, i ? ",\n" : "\n");
        add_misuse(sb, &l->misuse[i]);
    }
    strbuf_addstr(sb, "\n  ],\n");
}

void report_json(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addstr(sb, "{\n  \"format\": \"flame-leak\",\n  \"version\": 1,\n  \"name\": ");
    add_string(sb, r->name);
    strbuf_addstr(sb, ",\n");
    add_command(sb, r->command);
    strbuf_addstr(sb, "  \"started\": \"");
    leak_add_time(sb, r->started, "%Y-%m-%dT%H:%M:%SZ");
    strbuf_addf(sb, "\",\n  \"elapsed_ns\": %" PRIu64 ",\n  \"end\": {\"status\": %d",
                r->elapsed_ns, r->status);
    if (r->signal)
        strbuf_addf(sb, ", \"signal\": %d", r->signal);
    strbuf_addf(sb, "},\n  \"leaks_found\": %s,\n", r->over ? "true" : "false");
    add_allowed(sb, r);
    add_sums(sb, r);
    add_processes(sb, r);
    strbuf_addstr(sb, "  \"not_recorded\": ");
    add_string(sb, r->not_recorded);
    strbuf_addstr(sb, ",\n  \"doubts\": ");
    add_string(sb, r->doubts);
    strbuf_addstr(sb, ",\n  \"unchecked\": ");
    add_string(sb, r->unchecked);
    strbuf_addf(sb, ",\n  \"command_checked\": %s,\n", r->command_checked ? "true" : "false");
    if (r->misuses)
        add_misuses(sb, r->misuses);
    strbuf_addstr(sb, "  \"leaks\": [");
    for (size_t i = 0; i < r->leaks->n; i++) {
        strbuf_addstr(sb, i ? ",\n" : "\n");
        add_leak(sb, &r->leaks->leaks[i]);
    }
    strbuf_addstr(sb, "\n  ]\n}\n");
}
