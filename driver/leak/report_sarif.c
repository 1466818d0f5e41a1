/*
 * SARIF 2.1.0 (OASIS), the format of code scanning: a result for each stack, with its frames and a
 * fingerprint that does not change when lines move.
 */
#include <inttypes.h>

#include "common/commands.h"
#include "driver/leak/leakreport.h"
#include "driver/leak/misuselines.h"
#include "render/text/json.h"

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static void add_string(struct strbuf *sb, const char *s)
{
    json_add_string(sb, s, strlen(s), 0);
}

/* Appends a path as a URI: characters that a URI may hold are copied, all other bytes become
 * %XX. */
static void add_uri(struct strbuf *sb, const char *path)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "-._~/";

    strbuf_addstr(sb, *path == '/' ? "\"file://" : "\"");
    for (const char *s = path; *s; s++) {
        if (strchr(plain, *s))
            strbuf_addch(sb, *s);
        else
            strbuf_addf(sb, "%%%02X", (unsigned char)*s);
    }
    strbuf_addch(sb, '"');
}

static void add_location(struct strbuf *sb, const struct leak_frame *f)
{
    const char *path = leak_source_path(f);

    strbuf_addch(sb, '{');
    if (path) {
        strbuf_addstr(sb, "\"physicalLocation\": {\"artifactLocation\": {\"uri\": ");
        add_uri(sb, path);
        strbuf_addch(sb, '}');
        if (f->line)
            strbuf_addf(sb, ", \"region\": {\"startLine\": %u}", f->line);
        strbuf_addstr(sb, "}, ");
    }
    strbuf_addstr(sb, "\"logicalLocations\": [{\"kind\": \"function\", \"fullyQualifiedName\": ");
    add_string(sb, f->function);
    strbuf_addstr(sb, "}]}");
}

static void add_stack(struct strbuf *sb, const struct leak *l)
{
    strbuf_addstr(sb, ",\n     \"stacks\": [{\"frames\": [");
    for (size_t i = 0; i < l->nframes; i++) {
        strbuf_addstr(sb, i ? ",\n       {\"location\": " : "\n       {\"location\": ");
        add_location(sb, &l->frames[i]);
        if (*l->frames[i].module) {
            strbuf_addstr(sb, ", \"module\": ");
            add_string(sb, l->frames[i].module);
        }
        strbuf_addch(sb, '}');
    }
    strbuf_addstr(sb, "]}]");
}

/*
 * Appends text of a message. There braces are placeholders unless they are doubled, and
 * "[text](target)" is a link unless its brackets have a backslash before them.
 */
static void add_message(struct strbuf *sb, const char *s)
{
    bool links = strstr(s, "](");
    struct strbuf text = STRBUF_INIT;

    for (; *s; s++) {
        if (*s == '{' || *s == '}')
            strbuf_addch(&text, *s);
        else if (links && (*s == '[' || *s == ']' || *s == '\\'))
            strbuf_addch(&text, '\\');
        strbuf_addch(&text, *s);
    }
    add_string(sb, text.buf);
    strbuf_release(&text);
}

static void add_result(struct strbuf *sb, const struct leak_group *g)
{
    const struct leak_frame *place = leak_place(g->leak);
    struct strbuf message = STRBUF_INIT;

    leak_group_add(&message, g);
    strbuf_addf(sb,
                "    {\"ruleId\": \"%s-leak\", \"ruleIndex\": %d, \"level\": \"error\",\n"
                "     \"message\": {\"text\": ",
                leak_class_names[g->leak->class], g->leak->class);
    add_message(sb, message.buf);
    strbuf_addstr(sb, "},\n     \"locations\": [");
    if (place)
        add_location(sb, place);
    strbuf_addf(sb,
                "],\n     \"partialFingerprints\": {\"leakStack/v1\": \"%016" PRIx64 "\"},\n"
                "     \"properties\": {\"bytes\": %" PRIu64 ", \"blocks\": %" PRIu64
                ", \"threads\": %zu, \"processes\": %zu}",
                leak_group_fingerprint(g), g->bytes, g->blocks, g->threads, g->processes);
    if (g->leak->nframes)
        add_stack(sb, g->leak);
    strbuf_addch(sb, '}');
    strbuf_release(&message);
}

static void add_related(struct strbuf *sb, const struct misuse *m)
{
    static const char *const texts[MISUSE_STACKS] = {"called", "allocated here", "freed here"};
    bool more = false;

    for (int s = MISUSE_ALLOC; s < MISUSE_STACKS; s++) {
        const struct leak_frame *place = misuse_place(m, (enum misuse_stack)s);
        struct strbuf location = STRBUF_INIT;

        if (!place)
            continue;
        strbuf_addstr(sb, more ? ", " : ",\n     \"relatedLocations\": [");
        more = true;
        add_location(&location, place);
        /* Within the location's braces. */
        strbuf_add(sb, location.buf, location.len - 1);
        strbuf_addf(sb, ", \"message\": {\"text\": \"%s\"}}", texts[s]);
        strbuf_release(&location);
    }
    if (more)
        strbuf_addch(sb, ']');
}

/* Rules of misuses come after the rules of leaks. */
static void add_misuse(struct strbuf *sb, const struct misuse *m)
{
    const struct leak_frame *place = misuse_place(m, MISUSE_CALL);
    struct strbuf message = STRBUF_INIT, more = STRBUF_INIT;

    misuse_add_line(&message, m);
    misuse_add_more(&more, m, "; ");
    if (more.len)
        strbuf_addf(&message, "; %s", more.buf);
    strbuf_addf(sb,
                "    {\"ruleId\": \"%s\", \"ruleIndex\": %" PRIu32 ", \"level\": \"error\",\n"
                "     \"message\": {\"text\": ",
                misuse_kind_names[m->facts.kind], LEAK_CLASSES + m->facts.kind - 1);
    add_message(sb, message.buf);
    strbuf_addstr(sb, "},\n     \"locations\": [");
    if (place)
        add_location(sb, place);
    strbuf_addf(sb,
                "],\n     \"partialFingerprints\": {\"misuseStacks/v1\": \"%016" PRIx64 "\"},\n"
                "     \"properties\": {\"count\": %" PRIu64 ", \"processes\": %zu}",
                misuse_fingerprint(m), m->facts.count, m->processes);
    add_related(sb, m);
    if (m->at[MISUSE_CALL].nframes)
        add_stack(sb, &m->at[MISUSE_CALL]);
    strbuf_addch(sb, '}');
    strbuf_release(&message);
    strbuf_release(&more);
}

/* Rules in the order of enum trace_misuse_kind. */
static void add_misuse_rules(struct strbuf *sb)
{
    static const char *const texts[TRACE_MISUSE_KINDS] = {
        "",
        "Memory that was freed before.",
        "A pointer is freed that the allocator never handed out.",
        "Memory is resized that was freed before.",
        "A pointer is resized that the allocator never handed out.",
        "Memory is freed by a function of another family than the one that made it.",
        "Memory is freed with a size that is not its own.",
    };

    for (int kind = 1; kind < TRACE_MISUSE_KINDS; kind++)
        strbuf_addf(sb, ",\n      {\"id\": \"%s\", \"shortDescription\": {\"text\": \"%s\"}}",
                    misuse_kind_names[kind], texts[kind]);
}

/* Rules in the order of enum leak_class. */
static void add_rules(struct strbuf *sb, bool misuses)
{
    static const char *const texts[LEAK_CLASSES] = {
        "Memory that nothing leads to when the process ends.",
        "Memory that only leaked memory leads to.",
        "Memory that only pointers to the insides of blocks lead to.",
        "Memory that is allocated when the process ends.",
        "Memory that a marked region of the program leaves behind.",
        "Memory of which more is live with each pass.",
    };

    strbuf_addstr(sb, "\"rules\": [");
    for (int class = 0; class < LEAK_CLASSES; class ++)
        strbuf_addf(sb, "%s\n      {\"id\": \"%s-leak\", \"shortDescription\": {\"text\": \"%s\"}}",
                    class ? "," : "", leak_class_names[class], texts[class]);
    if (misuses)
        add_misuse_rules(sb);
    strbuf_addch(sb, ']');
}

static void add_notification(struct strbuf *sb, const char *what, const char *who, bool fails,
                             bool *more)
{
    struct strbuf text = STRBUF_INIT;

    if (!*who)
        return;
    strbuf_addf(&text, "%s: %s", what, who);
    strbuf_addf(sb, "%s\n     {\"level\": \"%s\", \"message\": {\"text\": ",
                *more ? "," : ",\n    \"toolExecutionNotifications\": [",
                fails ? "error" : "warning");
    add_message(sb, text.buf);
    strbuf_addstr(sb, "}}");
    *more = true;
    strbuf_release(&text);
}

/* A notification that not all processes were checked. */
static void add_notifications(struct strbuf *sb, const struct leak_report *r)
{
    bool more = false;

    add_notification(sb, "not checked", r->unchecked, r->unchecked_fails, &more);
    add_notification(sb, "not every process could be checked", r->doubts, true, &more);
    if (more)
        strbuf_addch(sb, ']');
}

static void add_invocation(struct strbuf *sb, const struct leak_report *r)
{
    strbuf_addf(sb, "   \"invocations\": [{\"executionSuccessful\": %s, \"exitCode\": %d",
                r->status == 0 ? "true" : "false", r->status);
    if (r->signal)
        strbuf_addf(sb, ", \"exitSignalNumber\": %d", r->signal);
    strbuf_addstr(sb, ", \"startTimeUtc\": \"");
    leak_add_time(sb, r->started, "%Y-%m-%dT%H:%M:%SZ");
    strbuf_addstr(sb, "\", \"arguments\": [");
    for (size_t i = 0; r->command[i]; i++) {
        if (i)
            strbuf_addstr(sb, ", ");
        add_string(sb, r->command[i]);
    }
    strbuf_addch(sb, ']');
    add_notifications(sb, r);
    strbuf_addstr(sb, "}],\n");
}

void report_sarif(struct strbuf *sb, const struct leak_report *r)
{
    bool more = false;

    strbuf_addstr(sb, "{\"$schema\": \"" SCHEMA "\", \"version\": \"2.1.0\",\n"
                      " \"runs\": [{\n"
                      "   \"tool\": {\"driver\": {\"name\": \"flame leak\", \"version\": "
                      "\"" FLAME_VERSION "\", ");
    add_rules(sb, r->misuses != NULL);
    strbuf_addstr(sb, "}},\n   \"automationDetails\": {\"id\": ");
    add_string(sb, r->name);
    strbuf_addstr(sb, "},\n");
    add_invocation(sb, r);
    strbuf_addstr(sb, "   \"columnKind\": \"utf16CodeUnits\",\n   \"results\": [");
    for (size_t i = 0; r->misuses && i < r->misuses->n; i++) {
        strbuf_addstr(sb, i ? ",\n" : "\n");
        add_misuse(sb, &r->misuses->misuse[i]);
        more = true;
    }
    for (size_t i = 0; i < r->groups->n && r->over; i++) {
        strbuf_addstr(sb, more ? ",\n" : "\n");
        add_result(sb, &r->groups->group[i]);
        more = true;
    }
    strbuf_addstr(sb, "]\n }]}\n");
}
