/* flame diff: two profiles to folded stacks with two counts. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/analysis/recordingset.h"
#include "fold/parallel_load.h"
#include "fold/load.h"
#include "fold/stacks/diff_gate.h"
#include "fold/stacks/textfile.h"
#include "fold/viewtable.h"

struct settings {
    struct fold_options fold;
    struct fold_when when;
    struct filter filter;
    struct diff_gate gate;
    bool normalize, perl, strip, has_gate;
    const char *output;
};

static int take_gate(void *at, const struct opts_row *row, const struct opts_given *given)
{
    struct strbuf why = STRBUF_INIT;
    struct settings *s = at;
    int status = 0;

    (void)row;
    diff_gate_release(&s->gate);
    s->has_gate = diff_gate_parse(&s->gate, given->value, &why);
    if (!s->has_gate)
        status = flame_error(FLAME_USAGE, "diff: --fail-above %s: %s", given->value, why.buf);
    strbuf_release(&why);
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

#define AT(member) offsetof(struct settings, member)

static const struct opts_row rows[] = {
    {"normalize", 'n', NULL, "scale the counts before, so that both sums are the same",
     .take = opts_take_true, .at = AT(normalize)},
    {"compat", .arg = "perl",
     .help = "--normalize rounds counts down to whole numbers, as difffolded.pl does",
     .take = take_compat, .at = AT(perl), .add_words = add_compat_words},
    {"strip", 's', NULL, "take addresses (0x1f...) in names for the same", .take = opts_take_true,
     .at = AT(strip)},
    {"view", 'v', "VIEW", "of traces, as for 'flame fold'", .take = opts_take_choice,
     .at = AT(fold.view), .add_words = view_words},
    {"output", 'o', "FILE", "write there instead of to standard output", .take = textfile_take,
     .at = AT(output)},
    {"fail-above", .arg = "PERCENT%[:FRAME-REGEX]",
     .help = "exit 1 and name the stacks if the whole, or any frame with what it calls, grew by "
             "more than PERCENT of the whole; with a regex, if the stacks with such a frame "
             "together grew by more than PERCENT",
     .take = take_gate, .at = 0},
    {0},
};

const struct opts_command diff_command = {
    .name = "diff",
    .summary = "compare two profiles",
    .usage = "[OPTION...] BEFORE AFTER\n--from TIME [--to TIME] [OPTION...] TRACE",
    .about = "Compares two profiles, folded stacks or traces: each stack with its count before\n"
             "and its count after, for 'flame render'. '-' is standard input.\n"
             "Two moments of one trace are compared with --from and --to.",
    .tables = {{rows, 0},
               {age_rows, AT(fold.ages)},
               {fold_when_rows, AT(when)},
               {filter_modules_rows, AT(filter)},
               {filter_rows, AT(filter)}},
};

/* Loads all of a recording whose first file is named, or that file alone. */
static int load(struct load *l, char *path, bool alone, int column)
{
    struct recordingset files = {.n = 0};
    char *one[] = {path};
    int status = FLAME_OK;

    l->column = column;
    if (alone)
        status = load_file(l, path);
    else
        recordingset_find(&files, one, 1, load_recorder(l->fold->view, false, false));
    if (l->fold->when)
        l->fold->when->several = files.n > 1;
    for (size_t i = 0; i < files.n && status == FLAME_OK; i++)
        status = load_file(l, files.paths[i]);
    l->missing += files.missing;
    recordingset_release(&files);
    if (status == FLAME_OK)
        status = load_traces(l);
    return status;
}

static int load_both(struct load *l, char **paths)
{
    bool alone = recordingset_are_of_one(paths[0], paths[1]); /* one program against another */
    int status = load(l, paths[0], alone, 0);

    return status == FLAME_OK ? load(l, paths[1], alone, 1) : status;
}

/* Loads one moment of a trace as a column; *time has the value of --from or --to, and gets the
 * moment that was found. */
static int load_moment(struct load *l, struct fold_options *fold, char *path,
                       struct fold_time *time, int column)
{
    struct fold_when one = {.at = *time,
                            .last = !time->given,
                            .unnamed = true,
                            .compared = true,
                            .reported = column > 0};
    struct fold_when *both = fold->when;
    int status;

    fold->when = &one;
    status = load(l, path, false, column);
    fold->when = both;
    *time = one.at;
    both->traces += one.traces;
    if (one.last_ns > both->last_ns)
        both->last_ns = one.last_ns;
    return status;
}

/* Loads two moments. The heading names both. */
static int load_moments(struct load *l, struct fold_options *fold, char **paths)
{
    struct fold_when *when = fold->when;
    int status = load_moment(l, fold, paths[0], &when->from, 0);

    if (status == FLAME_OK)
        status = load_moment(l, fold, paths[0], &when->to, 1);
    if (status == FLAME_OK && l->meta.len)
        fold_when_add(when, &l->meta);
    if (status == FLAME_OK)
        fold_when_say(when);
    return status;
}

static int load_sides(struct settings *s, struct load *l, char **paths)
{
    int status;

    if (s->when.from.given)
        return load_moments(l, &s->fold, paths);
    if (!s->when.at.given && parallel_load(l, paths, s->strip))
        return FLAME_OK;
    status = load_both(l, paths);
    if (status == FLAME_OK)
        fold_when_say(&s->when);
    return status;
}

/* Offsets of one build of a file mean nothing in another build or beside names. */
static int check_names(const struct load *l, char **paths)
{
    struct strbuf names = STRBUF_INIT;
    size_t side = l->lost[0].n ? 0 : 1;

    if (missing_symbols_same(&l->lost[0], &l->lost[1]))
        return FLAME_OK;
    missing_symbols_add_names(&l->lost[side], &names);
    flame_error(FLAME_USAGE,
                "diff: %s has lost the names of %s, whose files are gone or others by now; "
                "offsets cannot be compared with names: fold recordings before their programs "
                "are built again",
                strcmp(paths[side], "-") == 0 ? "standard input" : paths[side], names.buf);
    strbuf_release(&names);
    return FLAME_USAGE;
}

/* The stacks "libc.so.6`malloc" and "malloc" are different, though the function is one. */
static int check_modules(const struct load *l, char **paths)
{
    size_t without = l->modules[0] ? 1 : 0;

    if (l->modules[0] == l->modules[1])
        return FLAME_OK;
    return flame_error(FLAME_USAGE,
                       "diff: %s does not name the modules and the other one does; "
                       "fold both with --modules, or neither",
                       strcmp(paths[without], "-") == 0 ? "standard input" : paths[without]);
}

/* Prints each line of the report of a gate. */
static void print_report(struct strbuf *report)
{
    for (char *line = report->buf, *nl; (nl = strchr(line, '\n')); line = nl + 1) {
        *nl = '\0';
        flame_warn("diff: %s", line);
    }
    strbuf_clear(report);
}

static int check_gate(const struct settings *s, const struct load *l)
{
    const struct stackset *stacks = l->stacks;
    struct strbuf report = STRBUF_INIT;
    int status = FLAME_OK;

    if (l->missing + l->unread)
        return flame_error(
            FLAME_UNCHECKED, "diff: --fail-above: %zu %s could not be read, so not all was checked",
            l->missing + l->unread, l->missing + l->unread == 1 ? "trace" : "traces");
    if (!diff_gate_watches(&s->gate, stacks)) {
        if (s->gate.frame)
            return flame_error(FLAME_UNCHECKED, "diff: --fail-above: no stack has a frame that "
                                                "matches, before or after, so nothing was "
                                                "checked; look at the regular expression");
        flame_warn("diff: --fail-above: there are no stacks, before or after");
    } else {
        diff_gate_say(&s->gate, stacks, &report);
        print_report(&report);
    }
    if (!diff_gate_pass(&s->gate, stacks, &report))
        status = FLAME_FAILED;
    print_report(&report);
    strbuf_release(&report);
    return status;
}

static int compare(struct settings *s, char **paths)
{
    struct load l;
    int status;

    if (!s->when.from.given && strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return flame_error(FLAME_USAGE, "diff: standard input is one profile; name the other");
    load_init(&l, "compare", &s->fold);
    l.filter = &s->filter;
    stackset_want_two(l.stacks);
    stackset_strip(l.stacks, s->strip);
    status = load_sides(s, &l, paths);
    if (status == FLAME_OK && !s->when.from.given)
        status = check_names(&l, paths);
    if (status == FLAME_OK && !s->when.from.given)
        status = check_modules(&l, paths);
    if (status == FLAME_OK)
        status = load_filter(&l, "diff");
    if (status == FLAME_OK) {
        if (s->normalize)
            stackset_normalize(l.stacks, s->perl);
        status = load_write(&l, s->output);
    }
    if (status == FLAME_OK && s->has_gate)
        status = check_gate(s, &l);
    load_release(&l);
    return status;
}

/* Returns -1 if the operands are right, else an enum flame_exit after a line. */
static int check_operands(const struct settings *s, int n, char **paths)
{
    if (s->when.from.given && n != 1)
        return flame_error(
            FLAME_USAGE, "diff: --from and --to compare two moments of one trace; got %d files", n);
    if (s->when.from.given && strcmp(paths[0], "-") == 0)
        return flame_error(FLAME_USAGE, "diff: --from reads the trace twice; name a file");
    if (!s->when.from.given && n != 2)
        return flame_error(FLAME_USAGE, "diff: takes two profiles, BEFORE and AFTER; got %d", n);
    return -1;
}

int diff_main(int argc, char **argv)
{
    struct settings s = {.filter = FILTER_INIT};
    int first, status = opts_parse(&diff_command, &s, argc, argv, &first);

    s.fold.when = &s.when;
    if (status < 0 && fold_when_settle(&s.fold, "diff"))
        status = FLAME_USAGE;
    if (status < 0)
        status = check_operands(&s, argc - first, argv + first);
    if (status < 0) {
        fold_options_for(&s.fold, &s.filter);
        s.fold.no_hint = true; /* both sides would print the same hint */
        s.fold.views = NULL;   /* live blocks at each moment, not growth */
        s.when.unnamed = !s.when.from.given;
        status = compare(&s, argv + first);
    }
    fold_when_release(&s.when);
    filter_release(&s.filter);
    diff_gate_release(&s.gate);
    return status;
}
