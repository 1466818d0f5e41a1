/* flame collapse: other profilers' text to folded stacks. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/opts.h"
#include "fold/collapse.h"
#include "fold/filter.h"

enum { PROBE = 128 * 1024 };

static const char help[] =
    "usage: flame collapse [OPTION...] [FILE...]\n"
    "\n"
    "Folds the text of other profilers into stacks, one a line, with their counts.\n"
    "Several files are added up. FILE '-', or none, is standard input; gzip and zstd\n"
    "are unpacked. The format is guessed from how a file begins.\n"
    "\n"
    "      --from KIND      read this format; KIND is one of those below\n"
    "  -o, --output FILE    write there instead of to standard output\n"
    "      --help           this text\n"
    "\n"
    "perf script:\n"
    "      --pid            the root frame is COMM-PID\n"
    "      --tid            the root frame is COMM-PID/TID\n"
    "      --event NAME     count this event (the first in the file)\n"
    "      --kernel         mark kernel frames _[k]\n"
    "      --jit            mark frames of a JIT compiler _[j]\n"
    "      --all            both\n"
    "      --addrs          show the addresses of frames without a name\n"
    "      --srcline        the input has source lines (perf script -F +srcline)\n"
    "      --inline         show inlined functions, from the modules' debug information\n"
    "      --context        with --inline: their file and line\n"
    "\n"
    "perf-sched:\n"
    "      --tid            the root frame is COMM-TID\n"
    "      --wake           on top of each stack, the stack of what woke it\n"
    "      --chain          and on top of that what woke the waker, and so on\n"
    "\n" FILTER_HELP;

enum {
    OPT_FROM = 256,
    OPT_PID,
    OPT_TID,
    OPT_EVENT,
    OPT_KERNEL,
    OPT_JIT,
    OPT_ALL,
    OPT_ADDRS,
    OPT_SRCLINE,
    OPT_INLINE,
    OPT_CONTEXT,
    OPT_WAKE,
    OPT_CHAIN,
    OPT_HELP,
};

static const struct option longopts[] = {
    {"from", required_argument, NULL, OPT_FROM},
    {"output", required_argument, NULL, 'o'},
    {"pid", no_argument, NULL, OPT_PID},
    {"tid", no_argument, NULL, OPT_TID},
    {"event", required_argument, NULL, OPT_EVENT},
    {"event-filter", required_argument, NULL, OPT_EVENT},
    {"kernel", no_argument, NULL, OPT_KERNEL},
    {"jit", no_argument, NULL, OPT_JIT},
    {"all", no_argument, NULL, OPT_ALL},
    {"addrs", no_argument, NULL, OPT_ADDRS},
    {"srcline", no_argument, NULL, OPT_SRCLINE},
    {"inline", no_argument, NULL, OPT_INLINE},
    {"context", no_argument, NULL, OPT_CONTEXT},
    {"wake", no_argument, NULL, OPT_WAKE},
    {"chain", no_argument, NULL, OPT_CHAIN},
    {"help", no_argument, NULL, OPT_HELP},
    FILTER_OPTIONS,
    {NULL, 0, NULL, 0},
};

struct request {
    struct collapse_options opt;
    const struct collapse_kind *kind; /* --from, or NULL */
    struct filter filter;
    const char *output;
    struct collapse_stacks *stacks;
    struct collapse_count left_out[2]; /* by filters, also of stages before */
};

static void add_kinds(struct strbuf *sb)
{
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        strbuf_addf(sb, "%s%s", k == collapse_kinds ? "" : ", ", k->name);
}

static void show_help(void)
{
    fputs(help, stdout);
    fputs("\nKinds:\n", stdout);
    for (const struct collapse_kind *k = collapse_kinds; k->name; k++)
        printf("  %-18s %s\n", k->name, k->what);
}

static int unknown_kind(const char *name)
{
    struct strbuf kinds = STRBUF_INIT;
    int status;

    add_kinds(&kinds);
    status = flame_error(FLAME_USAGE, "collapse: no format '%s'; --from takes %s", name, kinds.buf);
    strbuf_release(&kinds);
    return status;
}

static int no_stack(const char *name, const struct collapse_kind *kind, bool given)
{
    struct strbuf kinds = STRBUF_INIT;
    int status;

    add_kinds(&kinds);
    if (!kind)
        status = flame_error(FLAME_USAGE, "%s: holds no stack in any format that was tried (%s)",
                             name, kinds.buf);
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

static int collapse_file(struct request *q, const char *path)
{
    const struct collapse_kind *kind = q->kind;
    struct collapse c;
    int err, status = FLAME_OK;

    collapse_init(&c, &q->opt, q->stacks);
    c.left_out = q->left_out;
    err = collapse_input_open(&c.in, path);
    if (err) {
        status = flame_error(FLAME_USAGE, "%s: cannot open: %s", path, strerror(-err));
        goto out;
    }
    if (!kind) {
        const char *text;
        size_t len = collapse_input_peek(&c.in, &text, PROBE);

        if (!c.in.error)
            kind = collapse_kind_guess(text, len);
    }
    if (kind && !c.in.error)
        kind->run(&c);
    if (c.in.error)
        status = flame_error(FLAME_USAGE, "%s: cannot read: %s", c.in.name, c.in.error);
    else if (c.samples == 0 && !c.has_left_out)
        status = no_stack(c.in.name, kind, q->kind != NULL);
    else if (c.unknown)
        flame_warn("%s: %" PRIu64 " line%s not understood, the first is line %" PRIu64 ": %s",
                   c.in.name, c.unknown, c.unknown == 1 ? " was" : "s were", c.unknown_line,
                   c.unknown_text.buf);
out:
    collapse_release(&c);
    return status;
}

static int collapse_files(struct request *q, const char *const *paths, int npaths)
{
    int status = FLAME_OK;

    q->stacks = collapse_stacks_new();
    for (int i = 0; i < npaths && status == FLAME_OK; i++)
        status = collapse_file(q, paths[i]);
    if (status == FLAME_OK) {
        filter_stacks(&q->filter, &q->stacks);
        for (size_t i = 0; i < 2; i++)
            collapse_count_add(&q->left_out[i], &q->filter.left_out[i]);
        status = filter_check(&q->filter, "collapse");
    }
    if (status == FLAME_OK)
        status = collapse_write_file(q->stacks, &(struct collapse_heading){.left_out = q->left_out},
                                     BY_STACK, q->output);
    collapse_stacks_free(q->stacks);
    return status;
}

/* -1: go on; else the exit status. */
static int take_option(struct request *q, int option, char **argv)
{
    struct collapse_options *opt = &q->opt;
    int status = filter_option(&q->filter, "collapse", option, optarg);

    if (status >= 0)
        return status == FLAME_OK ? -1 : status;
    switch (option) {
    case OPT_FROM:
        q->kind = collapse_kind_find(optarg);
        if (!q->kind)
            return unknown_kind(optarg);
        break;
    case 'o':
        q->output = optarg;
        break;
    case OPT_PID:
        opt->pid = true;
        break;
    case OPT_TID:
        opt->tid = true;
        break;
    case OPT_EVENT:
        opt->event = optarg;
        break;
    case OPT_KERNEL:
        opt->kernel = true;
        break;
    case OPT_JIT:
        opt->jit = true;
        break;
    case OPT_ALL:
        opt->kernel = opt->jit = true;
        break;
    case OPT_ADDRS:
        opt->addrs = true;
        break;
    case OPT_SRCLINE:
        opt->srcline = true;
        break;
    case OPT_INLINE:
        opt->inlined = true;
        break;
    case OPT_CONTEXT:
        opt->context = true;
        break;
    case OPT_WAKE:
        opt->wake = true;
        break;
    case OPT_CHAIN:
        opt->wake = opt->chain = true;
        break;
    case OPT_HELP:
        show_help();
        return FLAME_OK;
    default:
        return opts_wrong("collapse", argv, option);
    }
    return -1;
}

int collapse_main(int argc, char **argv)
{
    static const char *const standard_input[] = {"-"};
    struct request q = {.filter = FILTER_INIT};
    int c, status = -1;

    opterr = 0;
    optind = 1;
    while (status < 0 && (c = getopt_long(argc, argv, ":o:", longopts, NULL)) != -1)
        status = take_option(&q, c, argv);
    if (status < 0) {
        bool named = optind < argc;

        q.opt.place = q.filter.by;
        q.opt.tid |= q.filter.by_thread;
        q.opt.pid |= q.filter.by_process;
        status = collapse_files(&q, named ? (const char *const *)argv + optind : standard_input,
                                named ? argc - optind : 1);
    }
    filter_release(&q.filter);
    return status;
}
