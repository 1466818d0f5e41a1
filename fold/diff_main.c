/* flame diff: two profiles to folded stacks with two counts. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/opts.h"
#include "fold/collapse_halves.h"
#include "fold/collapse_load.h"
#include "fold/diff_gate.h"

static const char help[] =
    "usage: flame diff [OPTION...] BEFORE AFTER\n"
    "\n"
    "Compares two profiles, folded stacks or traces: each stack with its count before\n"
    "and its count after, for 'flame render'. '-' is standard input.\n"
    "\n"
    "  -n, --normalize      scale the counts before, so that both sums are the same\n"
    "  -s, --strip          take addresses (0x1f...) in names for the same\n"
    "  -v, --view VIEW      of traces, as for 'flame fold'\n"
    "  -o, --output FILE    write there instead of to standard output\n"
    "      --fail-above PERCENT%[:FRAME-REGEX]\n"
    "                       exit 1 and name the stacks if the whole, or any frame with\n"
    "                       what it calls, grew by more than PERCENT of the whole; with\n"
    "                       a regex, if the stacks with such a frame together grew by\n"
    "                       more than PERCENT\n"
    "      --help           this text\n"
    "\n" FILTER_HELP;

enum { OPT_FAIL_ABOVE = 256, OPT_HELP };

static const struct option longopts[] = {
    {"normalize", no_argument, NULL, 'n'},
    {"strip", no_argument, NULL, 's'},
    {"view", required_argument, NULL, 'v'},
    {"output", required_argument, NULL, 'o'},
    {"fail-above", required_argument, NULL, OPT_FAIL_ABOVE},
    {"help", no_argument, NULL, OPT_HELP},
    FILTER_OPTIONS,
    {NULL, 0, NULL, 0},
};

struct settings {
    struct fold_options fold;
    struct filter filter;
    struct diff_gate gate;
    bool normalize, strip, has_gate;
    const char *output;
};

static int load(struct collapse_load *l, const char *path, int column)
{
    int status;

    l->column = column;
    status = collapse_load_file(l, path);
    if (status == FLAME_OK)
        status = collapse_load_traces(l);
    return status;
}

static int load_both(struct collapse_load *l, char **paths)
{
    int status = load(l, paths[0], 0);

    return status == FLAME_OK ? load(l, paths[1], 1) : status;
}

static int check_gate(const struct settings *s, const struct collapse_stacks *stacks)
{
    struct strbuf report = STRBUF_INIT;
    int status = FLAME_OK;

    if (!diff_gate_pass(&s->gate, stacks, &report)) {
        status = FLAME_FAILED;
        for (char *line = report.buf, *nl; (nl = strchr(line, '\n')); line = nl + 1) {
            *nl = '\0';
            flame_error(FLAME_FAILED, "diff: %s", line);
        }
    }
    strbuf_release(&report);
    return status;
}

static int compare(struct settings *s, char **paths)
{
    struct collapse_load l;
    int status;

    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return flame_error(FLAME_USAGE, "diff: standard input is one profile; name the other");
    collapse_load_init(&l, "compare", &s->fold);
    l.filter = &s->filter;
    collapse_stacks_want_two(l.stacks);
    collapse_stacks_strip(l.stacks, s->strip);
    status = collapse_halves_load(&l, paths, s->strip) ? FLAME_OK : load_both(&l, paths);
    if (status == FLAME_OK)
        status = collapse_load_filter(&l, "diff");
    if (status == FLAME_OK) {
        if (s->normalize)
            collapse_stacks_normalize(l.stacks);
        status = collapse_load_write(&l, s->output);
    }
    if (status == FLAME_OK && s->has_gate)
        status = check_gate(s, l.stacks);
    collapse_load_release(&l);
    return status;
}

/* -1: go on; else the exit status. */
static int take_option(struct settings *s, int option, char **argv)
{
    struct strbuf why = STRBUF_INIT;
    int status = filter_option(&s->filter, "diff", option, optarg);

    if (status >= 0)
        return status == FLAME_OK ? -1 : status;
    switch (option) {
    case 'n':
        s->normalize = true;
        break;
    case 's':
        s->strip = true;
        break;
    case 'v':
        s->fold.view = optarg;
        break;
    case 'o':
        s->output = optarg;
        break;
    case OPT_FAIL_ABOVE:
        diff_gate_release(&s->gate);
        s->has_gate = diff_gate_parse(&s->gate, optarg, &why);
        if (!s->has_gate)
            status = flame_error(FLAME_USAGE, "diff: --fail-above %s: %s", optarg, why.buf);
        strbuf_release(&why);
        return status;
    case OPT_HELP:
        fputs(help, stdout);
        return FLAME_OK;
    default:
        return opts_wrong("diff", argv, option);
    }
    return -1;
}

int diff_main(int argc, char **argv)
{
    struct settings s = {.filter = FILTER_INIT};
    int c, status = -1;

    opterr = 0;
    optind = 1;
    while (status < 0 && (c = getopt_long(argc, argv, ":nsv:o:", longopts, NULL)) != -1)
        status = take_option(&s, c, argv);
    if (status < 0 && argc - optind != 2)
        status = flame_error(FLAME_USAGE, "diff: takes two profiles, BEFORE and AFTER; got %d",
                             argc - optind);
    if (status < 0) {
        fold_options_for(&s.fold, &s.filter);
        status = compare(&s, argv + optind);
    }
    filter_release(&s.filter);
    diff_gate_release(&s.gate);
    return status;
}
