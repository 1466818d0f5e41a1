/* leak.json: all that is known, for programs. docs/leaks.md describes it. */
#include <inttypes.h>

#include "driver/leak/leakreport.h"
#include "render/json.h"

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

/* What regions left behind is not in the list: its blocks may be in there, as leaks. */
static void add_sums(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addstr(sb, "  \"sums\": {");
    for (int class = 0; class < LEAK_REGION; class ++) {
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
    if (place)
        strbuf_addf(sb, ", \"place\": %zu", (size_t)(place - l->frames));
    strbuf_addstr(sb, ",\n     \"frames\": [");
    for (size_t i = 0; i < l->nframes; i++) {
        strbuf_addstr(sb, i ? ",\n       " : "\n       ");
        add_frame(sb, &l->frames[i]);
    }
    strbuf_addstr(sb, "]}");
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
    strbuf_addstr(sb, ",\n  \"leaks\": [");
    for (size_t i = 0; i < r->leaks->n; i++) {
        strbuf_addstr(sb, i ? ",\n" : "\n");
        add_leak(sb, &r->leaks->leaks[i]);
    }
    strbuf_addstr(sb, "\n  ]\n}\n");
}
