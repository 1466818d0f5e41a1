/* flame collapse: other profilers' text to folded stacks. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/collapse/collapse.h"
#include "fold/collapse/readers.h"
#include "fold/stacks/wrong_input.h"
#include "fold/stacks/filter.h"
#include "fold/stacks/textfile.h"

struct request {
    struct collapse_options opt;
    const struct collapse_kind *kind; /* --from, or NULL */
    struct filter filter;
    struct spill spill;
    const char *output;
    struct stackset *stacks;
    struct stackset_count left_out[2]; /* filtered out here and by earlier stages */
    bool modules;                      /* an input's names begin with their modules */
    bool has_left_out;                 /* an input reports a count as filtered out, even if 0 */
};

static void add_kinds(struct strbuf *sb)
{
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        strbuf_addf(sb, "%s%s", k == collapse_kinds ? "" : ", ", k->name);
}

static void add_kind_words(struct strbuf *sb)
{
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        strbuf_addf(sb, "%s%s", k == collapse_kinds ? "" : " ", k->name);
}

static int take_kind(void *at, const struct opts_row *row, const struct opts_given *given)
{
    const char *name;
    int status = opts_take_choice(&name, row, given);

    if (!status)
        *(const struct collapse_kind **)at = collapse_kind_find(name);
    return status;
}

static int take_compat(void *at, const struct opts_row *row, const struct opts_given *given)
{
    (void)row;
    *(bool *)at = opts_find_word("perl", given->value) == 0;
    return *(bool *)at ? 0 : opts_wrong_value(given, "perl");
}

static void add_compat_words(struct strbuf *sb)
{
    strbuf_addstr(sb, "perl");
}

static int take_all(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct collapse_options *opt = at;

    (void)row, (void)given;
    opt->kernel = opt->jit = true;
    return 0;
}

static int take_chain(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct collapse_options *opt = at;

    (void)row, (void)given;
    opt->wake = opt->chain = true;
    return 0;
}

static void add_kind_help(struct strbuf *sb)
{
    strbuf_addstr(sb, "\nKinds:\n");
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        strbuf_addf(sb, "  %-18s %s\n", k->name, k->what);
}

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"from", .arg = "KIND", .help = "read this format; KIND is one of those below",
     .take = take_kind, .at = AT(kind), .add_words = add_kind_words},
    {"compat", .arg = "perl", .help = "cut names as the stackcollapse scripts do",
     .take = take_compat, .at = AT(opt.perl), .add_words = add_compat_words},
    {"type", .arg = "NAME", .help = "count this kind of values, where a profile has several",
     .take = opts_take_text, .at = AT(opt.type)},
    {"label", .arg = "KEYS", .help = "pprof: labels of these keys are frames at the root",
     .take = opts_take_text, .at = AT(opt.label)},
    {"output", 'o', "FILE", "write there instead of to standard output", .take = textfile_take,
     .at = AT(output)},
    {0},
};

static const struct opts_row perf_rows[] = {
    {.help = "perf script:"},
    {"pid", .help = "the root frame is COMM-PID", .take = opts_take_true, .at = AT(opt.pid)},
    {"tid", .help = "the root frame is COMM-PID/TID; of perf-sched COMM-TID",
     .take = opts_take_true, .at = AT(opt.tid)},
    {"event", .arg = "NAME", .help = "count this event (the first in the file)",
     .take = opts_take_text, .at = AT(opt.event)},
    {"event-filter", .arg = "NAME", .help = "the same", .take = opts_take_text, .at = AT(opt.event),
     .hidden = true},
    {"kernel", .help = "mark kernel frames _[k]", .take = opts_take_true, .at = AT(opt.kernel)},
    {"jit", .help = "mark frames of a JIT compiler _[j]", .take = opts_take_true,
     .at = AT(opt.jit)},
    {"all", .help = "both", .take = take_all, .at = AT(opt)},
    {"addrs", .help = "show the addresses of frames without a name", .take = opts_take_true,
     .at = AT(opt.addrs)},
    {"srcline", .help = "the input has source lines (perf script -F +srcline)",
     .take = opts_take_true, .at = AT(opt.srcline)},
    {"inline", .help = "show inlined functions, from the modules' debug information",
     .take = opts_take_true, .at = AT(opt.inlined)},
    {"context", .help = "with --inline: their file and line", .take = opts_take_true,
     .at = AT(opt.context)},
    {.help = "perf-sched:"},
    {"wake", .help = "on top of each stack, the stack of what woke it", .take = opts_take_true,
     .at = AT(opt.wake)},
    {"chain", .help = "and on top of that what woke the waker, and so on", .take = take_chain,
     .at = AT(opt)},
    {0},
};

const struct opts_command collapse_command = {
    .name = "collapse",
    .summary = "turn other profilers' text into folded stacks",
    .usage = "[OPTION...] [FILE...]",
    .about = "Folds the text of other profilers into stacks, one a line, with their counts.\n"
             "Several files are added up. FILE '-', or none, is standard input; gzip and zstd\n"
             "are unpacked. The format is guessed from how a file begins.",
    .tables = {{rows, 0},
               {filter_modules_rows, AT(filter)},
               {spill_rows, AT(spill.limit)},
               {perf_rows, 0},
               {filter_rows, AT(filter)}},
    .add_help = add_kind_help,
};

/* An input's beginning, examined before the input is read. */
struct beginning {
    const struct collapse_kind *kind; /* its reader, or NULL */
    bool blank;                       /* the input is empty */
    char text[61];                    /* the beginning of its first line, for messages */
    bool sure;                        /* the beginning is that of the reader's format */
};

static int no_stack(const char *name, const struct beginning *b, bool given)
{
    const struct collapse_kind *kind = b->kind;
    struct strbuf kinds = STRBUF_INIT;
    int status;

    add_kinds(&kinds);
    if (!kind)
        status = flame_error(
            FLAME_USAGE,
            "%s: begins with '%s', and holds no stack in any format that was tried (%s)", name,
            b->text, kinds.buf);
    else if (given)
        status = flame_error(FLAME_USAGE, "%s: holds no stack of %s; --from takes another of %s",
                             name, kind->what, kinds.buf);
    else
        status = flame_error(FLAME_USAGE,
                             "%s: looks like %s but holds no stack; --from picks another of %s",
                             name, kind->what, kinds.buf);
    strbuf_release(&kinds);
    return status;
}

/* Whether a text has only comments and blank lines, which many formats leave when nothing was
 * counted. */
static bool is_blank(const char *text, size_t len)
{
    struct span rest = {text, len}, line;

    while (span_line(&rest, &line))
        if (!span_begins(line, "#") && span_trim(line).len > 0)
            return false;
    return true;
}

static struct beginning look(const struct collapse_kind *asked, struct textinput *in)
{
    struct beginning b = {.kind = asked};
    const char *text;
    size_t len = textinput_peek(in, &text, COLLAPSE_LOOK);

    memcpy(b.text, text, len < sizeof b.text ? len : sizeof b.text - 1);
    b.text[strcspn(b.text, "\n")] = '\0';
    b.blank = len < COLLAPSE_LOOK && is_blank(text, len);
    if (!b.kind)
        b.kind = collapse_kind_guess(text, len);
    b.sure = b.kind && b.kind->probe && b.kind->probe(text, len) > 0;
    return b;
}

/*
 * Whether an input without a stack is no error: it is empty, or has only what its format has
 * around stacks. With --event it is an error, so that the user learns that the event is not
 * there.
 */
static bool is_empty(const struct request *q, const struct beginning *b, const struct collapse *c)
{
    return c->has_left_out || b->blank || (b->sure && !c->unknown && !q->opt.event);
}

static int judge(const struct request *q, const struct beginning *b, const struct collapse *c)
{
    if (c->in.error)
        return textinput_cannot_read(&c->in);
    if (q->spill.status)
        return q->spill.status;
    if (c->samples == 0 && !is_empty(q, b, c))
        return no_stack(c->in.name, b, q->kind != NULL);
    if (b->kind && b->kind->run == collapse_folded_run && !b->blank &&
        folded_refuse_foreign(c->in.name, c->samples, c->unknown, c->unknown_line,
                              c->unknown_text.buf))
        return FLAME_USAGE;
    folded_columns_say(&c->columns, c->in.name);
    if (c->unknown && !b->blank)
        flame_warn("%s: %" PRIu64 " line%s not understood, the first is line %" PRIu64 ": %s",
                   c->in.name, c->unknown, c->unknown == 1 ? " was" : "s were", c->unknown_line,
                   c->unknown_text.buf);
    return FLAME_OK;
}

/* Reads an input that was just opened. Returns an enum flame_exit after a line. */
static int collapse_input(struct request *q, struct collapse *c)
{
    struct beginning b = look(q->kind, &c->in);
    int status = q->kind ? FLAME_OK : wrong_input_refuse(&c->in);

    if (status)
        return status;
    if (b.kind && !c->in.error)
        b.kind->run(c);
    q->stacks = c->stacks;
    q->has_left_out |= c->has_left_out;
    q->modules |= c->modules || (q->filter.modules && !q->filter.by);
    return judge(q, &b, c);
}

static int collapse_file(struct request *q, const char *path)
{
    struct collapse c;
    int err, status;

    collapse_init(&c, &q->opt, q->stacks);
    c.left_out = q->left_out;
    c.spill = &q->spill;
    err = textinput_open(&c.in, path);
    if (err)
        status = flame_cannot_read(path, err);
    else
        status = collapse_input(q, &c);
    collapse_release(&c);
    if (!status && spill_is_due(&q->spill, q->stacks, false))
        status = spill_take(&q->spill, &q->stacks, false);
    return status;
}

/* Warns that there is no stack. The profile of an idle machine has none, but neither has one
 * that an earlier stage failed to fill. */
static void say_empty(const struct request *q, const char *const *paths, int npaths)
{
    if (stackset_len(q->stacks) > 0 || q->spill.nruns || q->has_left_out)
        return;
    if (npaths > 1)
        flame_warn("all profiles are empty");
    else
        flame_warn("%s: the profile is empty",
                   strcmp(paths[0], "-") == 0 ? "standard input" : paths[0]);
}

static int write_stacks(struct request *q)
{
    const struct stackset_heading heading = {.left_out = q->left_out, .modules = q->modules};

    if (q->spill.nruns)
        return spill_write_file(&q->spill, &heading, BY_STACK, q->output);
    return stackset_write_file(q->stacks, &heading, BY_STACK, q->output);
}

static int collapse_files(struct request *q, const char *const *paths, int npaths)
{
    int status = spill_check(&q->spill, "collapse");

    q->stacks = stackset_new();
    for (int i = 0; i < npaths && status == FLAME_OK; i++)
        status = collapse_file(q, paths[i]);
    if (status == FLAME_OK)
        say_empty(q, paths, npaths);
    if (status == FLAME_OK)
        status = spill_settle(&q->spill, &q->stacks);
    if (status == FLAME_OK) {
        if (!q->spill.nruns)
            filter_stacks(&q->filter, &q->stacks);
        for (size_t i = 0; i < 2; i++)
            stackset_count_add(&q->left_out[i], &q->filter.left_out[i]);
        status = filter_check(&q->filter, "collapse");
    }
    if (status == FLAME_OK)
        status = write_stacks(q);
    spill_release(&q->spill);
    stackset_free(q->stacks);
    return status;
}

int collapse_main(int argc, char **argv)
{
    static const char *const standard_input[] = {"-"};
    struct request q = {.filter = FILTER_INIT};
    int first, status = opts_parse(&collapse_command, &q, argc, argv, &first);

    if (status < 0) {
        bool named = first < argc;

        q.spill.filter = &q.filter;
        q.opt.place = filter_places(&q.filter);
        q.opt.tid |= q.filter.by_thread;
        q.opt.pid |= q.filter.by_process;
        status = collapse_files(&q, named ? (const char *const *)argv + first : standard_input,
                                named ? argc - first : 1);
    }
    filter_release(&q.filter);
    return status;
}
