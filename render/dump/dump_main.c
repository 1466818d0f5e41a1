/* flame dump: a trace, record by record. */
#include <stddef.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/outfile.h"
#include "render/dump/dump.h"

#define TEXT_ENDINGS "txt text dump out log"

struct request {
    bool json;
    unsigned sections;
    const char *output;
};

#define AT(member) offsetof(struct request, member)

static int take_section(void *at, const struct opts_row *row, const struct opts_given *given)
{
    int i, status = opts_take_word(&i, row, given);

    if (!status)
        *(unsigned *)at |= 1u << i;
    return status;
}

/* A name whose ending promises something else would be found out much later. */
static int take_output(void *at, const struct opts_row *row, const struct opts_given *given)
{
    const char *ending = outfile_ending(given->value);
    struct request *q = at;

    (void)row;
    if (ending && opts_find_word(TEXT_ENDINGS " json", ending) < 0)
        return flame_error(FLAME_USAGE,
                           "dump: -o %s: its ending does not say what to write; end it in .txt or "
                           ".json; 'flame render -o %s' draws traces",
                           given->value, given->value);
    q->output = given->value;
    q->json |= ending && strcmp(ending, "json") == 0;
    return 0;
}

static const struct opts_row rows[] = {
    {"json", 'j', NULL, "one JSON object with an array for each section, instead of lines",
     .take = opts_take_true, .at = AT(json)},
    {"section", 's', "NAME",
     "only header, module, origin, inherited, thread, node or row; several: each of them",
     .take = take_section, .at = AT(sections), .words = DUMP_SECTIONS},
    {"output", 'o', "FILE", "write there instead of to standard output; .json is JSON, .txt text",
     .take = take_output, .at = 0},
    {0},
};

const struct opts_command dump_command = {
    .name = "dump",
    .summary = "print what a trace holds, record by record",
    .usage = "[OPTION...] TRACE",
    .about = "Prints a trace as it stands in the file: header, modules, threads, nodes of the\n"
             "tree of stacks, rows of counters; a record a line. '-' is standard input. A\n"
             "trace that is being recorded is read as it is at this moment.",
    .tables = {{rows, 0}},
};

static int write_dump(const struct request *q, const struct trace *t)
{
    struct recordtext w;
    struct outfile out;
    int err = outfile_open(&out, q->output);

    if (!err) {
        recordtext_begin(&w, out.f, q->json);
        dump_trace(t, q->sections ? q->sections : ~0u, &w);
        recordtext_end(&w);
        err = outfile_commit(&out);
    }
    return err ? flame_cannot_write(q->output, err) : FLAME_OK;
}

int dump_main(int argc, char **argv)
{
    struct request q = {0};
    struct trace *t;
    int first, status = opts_parse(&dump_command, &q, argc, argv, &first);

    if (status >= 0)
        return status;
    if (argc - first != 1)
        return flame_error(FLAME_USAGE, "dump: takes one trace; got %d", argc - first);
    status = trace_load(argv[first], &t);
    if (status == FLAME_OK) {
        status = write_dump(&q, t);
        trace_free(t);
    }
    return status;
}
