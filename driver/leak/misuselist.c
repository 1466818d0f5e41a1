/*
 * A child names the stacks (fold/fold_in_child.h). It also reports the suppression that matches a
 * misuse: a line for the misuse, and one for each stack.
 *
 * A library with libstdc++ linked into it, or a program with an operator new of its own, calls
 * malloc where its source says new, and the recorder sees only that malloc. So an apparent mismatch
 * is dropped if the function that called malloc or free is an operator by its name. If that
 * function has no name, the mismatch is dropped as well, unless both calls are in one file, or in
 * the C library, which has no operators.
 */
#include "driver/leak/misuselist.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/basename.h"
#include "common/folded.h"
#include "common/trace/trace_merge.h"
#include "driver/suppress/leakframes.h"
#include "fold/fold_in_child.h"
#include "fold/stacks/place.h"

/* How far from malloc an operator of a program's own may be. */
#define OPERATOR_REACH 8u

const char *const misuse_kind_names[TRACE_MISUSE_KINDS] = {
    [TRACE_MISUSE_DOUBLE_FREE] = "double-free",
    [TRACE_MISUSE_INVALID_FREE] = "invalid-free",
    [TRACE_MISUSE_REALLOC_FREED] = "realloc-freed",
    [TRACE_MISUSE_REALLOC_INVALID] = "realloc-invalid",
    [TRACE_MISUSE_MISMATCH] = "mismatch",
    [TRACE_MISUSE_SIZE] = "wrong-size",
};

const char *const misuse_call_names[TRACE_CALLS] = {
    "",
    "free",
    "realloc",
    "reallocarray",
    "free_sized",
    "free_aligned_sized",
    "operator delete",
    "operator delete[]",
    "operator delete with an alignment",
    "operator delete[] with an alignment",
};

const char *const misuse_made_names[TRACE_MADES] = {
    "",
    "malloc",
    "operator new",
    "operator new[]",
    "operator new with an alignment",
    "operator new[] with an alignment",
};

const char *const misuse_where_names[TRACE_WHERES] = {
    "",
    "inside a block",
    "on the stack",
    "a variable or text of the program's",
    "where there is no memory",
    "in memory where no block is",
};

/* ---- in the child ---- */

static struct leak_filter *asked_for; /* the one fold_in_child works for */

static void add_frame(struct strbuf *sb, const struct suppress_frame *f)
{
    const char *base = base_name(f->module);
    struct strbuf text = STRBUF_INIT;

    strbuf_addch(sb, ';');
    if (f->len) {
        folded_add_frame(sb, f->name, f->len);
    } else {
        strbuf_addf(&text, "[%s+0x%" PRIx64 "]", *base ? base : "unknown", f->offset);
        folded_add_frame(sb, text.buf, text.len);
        strbuf_clear(&text);
    }
    if (f->inlined)
        strbuf_addstr(sb, "_[i]");
    place_mark(sb, f->module, strlen(f->module));
    if (f->file) {
        strbuf_addf(&text, "%s:%u", f->file, f->line);
        place_mark(sb, text.buf, text.len);
    }
    strbuf_release(&text);
}

/* As parse_stack of leaklist.c reads them: the outermost first. */
static void print_stack(struct leakframes *f, uint32_t node, struct strbuf *sb)
{
    struct suppress_frame **frame;
    size_t n = 0;

    frame = node ? leakframes_of(f, node, &n) : NULL;
    while (n > 0)
        add_frame(sb, frame[--n]);
    strbuf_addch(sb, '\n');
}

static bool is_called(const struct suppress_frame *f, const char *with)
{
    return f->len >= strlen(with) && memcmp(f->name, with, strlen(with)) == 0;
}

static bool comes_from_operator(struct suppress_frame *const *stack, size_t n, const char *which)
{
    for (size_t i = 0; i < n && i < OPERATOR_REACH; i++)
        if (is_called(stack[i], which))
            return true;
    return false;
}

static bool is_of_libc(const char *module)
{
    return strncmp(base_name(module), "libc.so", 7) == 0 ||
           strncmp(base_name(module), "libc-2.", 7) == 0;
}

/* The file of the innermost frame that is no operator; "" if there is none. */
static const char *module_of(struct suppress_frame *const *stack, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!is_called(stack[i], "operator "))
            return stack[i]->module;
    return "";
}

/* Whether a recorded call of malloc or free may come from a private operator. */
static bool may_be_operator(struct leakframes *f, uint32_t node, const char *which,
                            const char *other)
{
    struct suppress_frame **stack;
    size_t n = 0;

    stack = node ? leakframes_of(f, node, &n) : NULL;
    if (!n || comes_from_operator(stack, n, which))
        return true;
    return !stack[0]->len && strcmp(stack[0]->module, other) != 0 && !is_of_libc(stack[0]->module);
}

static bool is_doubtful(struct leakframes *f, const struct trace_misuse *m)
{
    bool by_malloc = m->made_by == TRACE_MADE_MALLOC;
    uint32_t seen = by_malloc ? m->alloc_node : m->node,
             other = by_malloc ? m->node : m->alloc_node;
    struct suppress_frame **stack;
    char *module;
    bool doubt;
    size_t n = 0;

    if (m->kind != TRACE_MISUSE_MISMATCH || (!by_malloc && m->call >= TRACE_CALL_DELETE))
        return false;
    stack = other ? leakframes_of(f, other, &n) : NULL;
    module = xstrdup(n ? module_of(stack, n) : "");
    doubt = may_be_operator(f, seen, by_malloc ? "operator new" : "operator delete", module);
    free(module);
    return doubt;
}

/* Prints "misuse TRACE NUMBER RULE" and the stacks; RULE is the number of rules if none matches. */
static void print_one(struct leakframes *f, const struct trace *t, size_t trace, size_t i,
                      struct strbuf *sb)
{
    struct suppressions *rules = leak_filter_rules(asked_for);
    const struct trace_misuse *m = &t->misuses[i];
    struct suppress_frame **stack;
    size_t n = 0, rule = SUPPRESS_NONE;

    if (is_doubtful(f, m))
        return;
    stack = m->node ? leakframes_of(f, m->node, &n) : NULL;
    if (n)
        rule = suppressions_match(rules, stack, n, SUPPRESS_MISUSE);
    strbuf_addf(sb, "misuse %zu %zu %zu\n", trace, i,
                rule == SUPPRESS_NONE ? suppressions_count(rules) : rule);
    print_stack(f, m->node, sb);
    print_stack(f, m->alloc_node, sb);
    print_stack(f, m->free_node, sb);
}

/* A guarded_work: all that is read of debug information is read before the text goes out. */
static int print_all(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                     aggregate_sink sink, void *opaque)
{
    struct suppressions *rules = leak_filter_rules(asked_for);
    struct symbols *syms = symbols_new(&opt->symbols);
    struct strbuf sb = STRBUF_INIT;

    for (size_t trace = 0; trace < ntraces; trace++) {
        struct leakframes *f = leakframes_new(traces[trace], syms);

        for (size_t i = 0; i < traces[trace]->nmisuses; i++)
            print_one(f, traces[trace], trace, i, &sb);
        leakframes_free(f);
    }
    suppressions_print_matched(rules, &sb);
    symbols_free(syms);
    sink(opaque, sb.buf, sb.len);
    strbuf_release(&sb);
    return 0;
}

/* ---- here ---- */

static struct misuse_who who_of(const struct trace *t, uint32_t thread)
{
    const struct trace_thread *th = trace_thread_at(t, thread);
    struct misuse_who who = {.thread = xstrdup(""), .tid = 0};
    struct strbuf name = STRBUF_INIT;

    if (!th)
        return who;
    folded_add_frame(&name, th->comm, strnlen(th->comm, sizeof th->comm));
    free((char *)who.thread);
    who.thread = name.buf ? strbuf_detach(&name, NULL) : xstrdup("");
    who.tid = th->uses > 1 ? 0 : th->tid;
    return who;
}

static bool same(const struct misuse *a, const struct misuse *b)
{
    const struct trace_misuse *x = &a->facts, *y = &b->facts;

    if (x->kind != y->kind || x->call != y->call || x->freed_by != y->freed_by ||
        x->made_by != y->made_by || x->where != y->where)
        return false;
    for (int s = 0; s < MISUSE_STACKS; s++)
        if (leak_compare_frames(&a->at[s], &b->at[s]) != 0)
            return false;
    return true;
}

static void release(struct misuse *m)
{
    for (int s = 0; s < MISUSE_STACKS; s++) {
        free(m->at[s].frames);
        free(m->at[s].text);
    }
    free((char *)m->who.thread);
    free((char *)m->freed.thread);
    free((char *)m->process);
}

/* Takes it over. */
static void add(struct misuse_list *l, struct misuse *m)
{
    for (size_t i = 0; i < l->n; i++) {
        struct misuse *known = &l->misuse[i];

        if (!same(known, m))
            continue;
        known->facts.count += m->facts.count;
        known->processes += known->pid != m->pid;
        release(m);
        return;
    }
    GROW(l->misuse, l->n, l->room);
    l->misuse[l->n++] = *m;
}

/* Returns the line at *s, now ended by a NUL; *s moves behind it. NULL: no more lines. */
static char *take_line(char **s)
{
    char *line = *s, *nl = strchr(line, '\n');

    if (!nl)
        return NULL;
    *nl = '\0';
    *s = nl + 1;
    return line;
}

static void take_misuse(struct misuse_list *l, struct leak_filter *hides, const struct trace *t,
                        size_t i, size_t rule, char **s)
{
    struct suppressions *rules = leak_filter_rules(hides);
    const struct trace_misuse *from = &t->misuses[i];
    const char *program = trace_program(t);
    struct strbuf name = STRBUF_INIT;
    struct misuse m = {.facts = *from, .pid = t->header.pid, .processes = 1};

    for (int at = 0; at < MISUSE_STACKS; at++) {
        const char *line = take_line(s);

        m.at[at].text = xstrdup(line ? line : "");
        leak_take_frames(&m.at[at]);
    }
    folded_add_frame(&name, program, strlen(program));
    m.process = strbuf_detach(&name, NULL);
    m.who = who_of(t, from->thread);
    m.freed = who_of(t, from->freed_in);
    if (rule < suppressions_count(rules)) {
        suppressions_at(rules, rule)->misuses += from->count;
        release(&m);
    } else {
        add(l, &m);
    }
}

static void take_text(struct misuse_list *l, struct leak_filter *hides, struct trace *const *traces,
                      size_t ntraces, struct strbuf *text)
{
    struct suppressions *rules = leak_filter_rules(hides);
    char *s = text->buf, *line;
    size_t trace, i, rule;

    while (text->len && (line = take_line(&s))) {
        if (!suppressions_take_matched(rules, line) &&
            sscanf(line, "misuse %zu %zu %zu", &trace, &i, &rule) == 3 && trace < ntraces &&
            i < traces[trace]->nmisuses)
            take_misuse(l, hides, traces[trace], i, rule, &s);
    }
}

static int by_count(const void *pa, const void *pb)
{
    const struct misuse *a = pa, *b = pb;

    if (a->facts.count != b->facts.count)
        return a->facts.count < b->facts.count ? 1 : -1;
    if (a->facts.kind != b->facts.kind)
        return a->facts.kind < b->facts.kind ? -1 : 1;
    return leak_compare_frames(&a->at[MISUSE_CALL], &b->at[MISUSE_CALL]);
}

int misuse_list_make(struct misuse_list *l, struct leak_filter *hides, struct trace *const *traces,
                     size_t ntraces)
{
    struct fold_options opt = {.symbols.lines = true};
    struct strbuf text = STRBUF_INIT;
    int status = 0;
    bool any = false;

    *l = (struct misuse_list){0};
    for (size_t i = 0; i < ntraces; i++) {
        any |= traces[i]->nmisuses > 0;
        l->unjudged += traces[i]->header.unjudged_frees;
        l->processes += (traces[i]->header.features & TRACE_FEATURE_MISUSE) != 0;
    }
    if (any) {
        asked_for = hides;
        status = fold_in_child(&opt, traces, ntraces, aggregate_to_strbuf, &text, print_all);
    }
    if (!status)
        take_text(l, hides, traces, ntraces, &text);
    if (l->n)
        qsort(l->misuse, l->n, sizeof *l->misuse, by_count);
    strbuf_release(&text);
    return status;
}

void misuse_list_release(struct misuse_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        release(&l->misuse[i]);
    free(l->misuse);
    *l = (struct misuse_list){0};
}
