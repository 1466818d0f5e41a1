/* flame diff: two profiles to folded stacks with two counts. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/halves.h"
#include "fold/load.h"
#include "fold/diff_gate.h"
#include "fold/stacks/textfile.h"
#include "fold/viewtable.h"

struct settings {
    struct fold_options fold;
    struct filter filter;
    struct diff_gate gate;
    bool normalize, strip, has_gate;
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

#define AT(member) offsetof(struct settings, member)

static const struct opts_row rows[] = {
    {"normalize", 'n', NULL, "scale the counts before, so that both sums are the same",
     .take = opts_take_true, .at = AT(normalize)},
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
    .usage = "[OPTION...] BEFORE AFTER",
    .about = "Compares two profiles, folded stacks or traces: each stack with its count before\n"
             "and its count after, for 'flame render'. '-' is standard input.",
    .tables = {{rows, 0}, {age_rows, AT(fold.ages)}, {filter_rows, AT(filter)}},
};

static int load(struct load *l, const char *path, int column)
{
    int status;

    l->column = column;
    status = load_file(l, path);
    if (status == FLAME_OK)
        status = load_traces(l);
    return status;
}

static int load_both(struct load *l, char **paths)
{
    int status = load(l, paths[0], 0);

    return status == FLAME_OK ? load(l, paths[1], 1) : status;
}

/* Offsets in one build of a file mean nothing in another, nor beside names. */
static int check_names(const struct load *l, char **paths)
{
    struct strbuf names = STRBUF_INIT;
    size_t side = l->lost[0].n ? 0 : 1;

    if (lostnames_same(&l->lost[0], &l->lost[1]))
        return FLAME_OK;
    lostnames_add_names(&l->lost[side], &names);
    flame_error(FLAME_USAGE,
                "diff: %s has lost the names of %s, whose files are gone or others by now; "
                "offsets cannot be compared with names: fold recordings before their programs "
                "are built again",
                strcmp(paths[side], "-") == 0 ? "standard input" : paths[side], names.buf);
    strbuf_release(&names);
    return FLAME_USAGE;
}

static int check_gate(const struct settings *s, const struct stackset *stacks)
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
    struct load l;
    int status;

    if (strcmp(paths[0], "-") == 0 && strcmp(paths[1], "-") == 0)
        return flame_error(FLAME_USAGE, "diff: standard input is one profile; name the other");
    load_init(&l, "compare", &s->fold);
    l.filter = &s->filter;
    stackset_want_two(l.stacks);
    stackset_strip(l.stacks, s->strip);
    status = halves_load(&l, paths, s->strip) ? FLAME_OK : load_both(&l, paths);
    if (status == FLAME_OK)
        status = check_names(&l, paths);
    if (status == FLAME_OK)
        status = load_filter(&l, "diff");
    if (status == FLAME_OK) {
        if (s->normalize)
            stackset_normalize(l.stacks);
        status = load_write(&l, s->output);
    }
    if (status == FLAME_OK && s->has_gate)
        status = check_gate(s, l.stacks);
    load_release(&l);
    return status;
}

int diff_main(int argc, char **argv)
{
    struct settings s = {.filter = FILTER_INIT};
    int first, status = opts_parse(&diff_command, &s, argc, argv, &first);

    if (status < 0 && argc - first != 2)
        status = flame_error(FLAME_USAGE, "diff: takes two profiles, BEFORE and AFTER; got %d",
                             argc - first);
    if (status < 0) {
        fold_options_for(&s.fold, &s.filter);
        s.fold.no_hint = true; /* each side would say the same */
        status = compare(&s, argv + first);
    }
    filter_release(&s.filter);
    diff_gate_release(&s.gate);
    return status;
}
