/* flame fold: traces to folded stacks, folded stacks of several files to one. */
#include <stddef.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/files/outfile.h"
#include "fold/analysis/recordingset.h"
#include "fold/load.h"
#include "fold/fold.h"
#include "fold/stacks/textfile.h"
#include "fold/viewtable.h"

struct request {
    struct fold_options fold;
    struct fold_when when;
    struct filter filter;
    uint64_t max_memory;
    const char *output;
    struct opts_list debug_dirs, comms, excludes;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"view", 'v', "VIEW", "what is counted", .take = opts_take_choice, .at = AT(fold.view),
     .add_words = view_words, .add_help = view_help},
    {"output", 'o', "FILE", "write there instead of to standard output", .take = textfile_take,
     .at = AT(output)},
    {"pid", .help = "the root frame is COMM-PID", .take = opts_take_true, .at = AT(fold.pid)},
    {"tid", .help = "a frame for each thread under the root", .take = opts_take_true,
     .at = AT(fold.tid)},
    {"ancestors", .help = "a frame for each process it descends from under the root",
     .take = opts_take_true, .at = AT(fold.ancestors)},
    {"comm", .arg = "NAME", .help = "only of threads called NAME; several: of any of these",
     .take = opts_take_list, .at = AT(comms)},
    {"exclude", .arg = "REGEX", .help = "no stacks with a frame that matches",
     .take = opts_take_list, .at = AT(excludes)},
    {"idle", .help = "no sleeps of threads that only wait for work", .take = opts_take_true,
     .at = AT(fold.idle)},
    {"no-demangle", .help = "leave C++ and Rust names as they are in the file",
     .take = opts_take_true, .at = AT(fold.symbols.no_demangle)},
    {"inline",
     .help = "show inlined functions, marked _[i] (the default where there is debug information)",
     .take = opts_take_false, .at = AT(fold.symbols.no_inline)},
    {"no-inline", .help = "do not", .take = opts_take_true, .at = AT(fold.symbols.no_inline)},
    {"lines", .help = "add file and line to frames", .take = opts_take_true,
     .at = AT(fold.symbols.lines)},
    {"debug-dir", .arg = "DIR", .help = "look for debug files there too, as in /usr/lib/debug",
     .take = opts_take_list, .at = AT(debug_dirs)},
    {"no-header", .help = "leave out the '# flame:' lines", .take = opts_take_true,
     .at = AT(fold.no_header)},
    {0},
};

const struct opts_command fold_command = {
    .name = "fold",
    .summary = "turn traces into folded stacks",
    .usage = "[OPTION...] FILE...",
    .about = "Folds traces into stacks of function names, one a line, with what each\n"
             "stands for. A file that is folded already is taken as it is. Several files give\n"
             "one output, their counts added up. FILE '-' is standard input.",
    .tables = {{rows, 0},
               {age_rows, AT(fold.ages)},
               {fold_when_rows, AT(when)},
               {filter_modules_rows, AT(filter)},
               {spill_rows, AT(max_memory)},
               {filter_rows, AT(filter)}},
};

static void put_line(void *file, const char *line, size_t len)
{
    /* Write errors are checked once, when the file is committed. */
    fwrite(line, 1, len, file);
}

static int write_traces(const struct fold_options *opt, struct tracesums *sums, const char *output)
{
    size_t n = 0;
    struct trace *const *traces = sums ? tracesums_get(sums, &n) : NULL;
    struct outfile out;
    int err = outfile_open(&out, output), status;

    if (err)
        return flame_cannot_write(output, err);
    status = fold_loaded_to(opt, traces, n, put_line, out.f);
    if (status != FLAME_OK) {
        outfile_abort(&out);
        return status;
    }
    err = outfile_commit(&out);
    return err ? flame_cannot_write(output, err) : FLAME_OK;
}

static int fold_files(struct request *q, char **paths, size_t npaths)
{
    struct load l;
    int status = FLAME_OK;

    load_init(&l, "fold", &q->fold);
    l.filter = l.spill.filter = &q->filter;
    l.spill.limit = q->max_memory;
    status = spill_check(&l.spill, "fold");
    if (q->fold.ancestors)
        q->fold.tree = process_tree_new(q->fold.pid);
    for (size_t i = 0; q->fold.tree && i < npaths && status == FLAME_OK; i++)
        status = load_process(q->fold.tree, paths[i]);
    for (size_t i = 0; i < npaths && status == FLAME_OK; i++)
        status = load_file(&l, paths[i]);
    if (status == FLAME_OK)
        status = load_parts(&l);
    if (status == FLAME_OK && (l.texts || q->filter.active)) {
        status = load_traces(&l);
        if (q->fold.no_header)
            strbuf_clear(&l.meta);
        if (status == FLAME_OK)
            status = load_filter(&l, "fold");
        if (status == FLAME_OK)
            status = load_write(&l, q->output);
    } else if (status == FLAME_OK) {
        status = write_traces(&q->fold, l.traces, q->output);
    }
    if (status == FLAME_OK)
        fold_when_say(&q->when);
    load_release(&l);
    process_tree_free(q->fold.tree);
    return status;
}

int fold_main(int argc, char **argv)
{
    struct request q = {.filter = FILTER_INIT};
    struct recordingset files;
    int first, status = opts_parse(&fold_command, &q, argc, argv, &first);

    q.fold.symbols.debug_dirs = q.debug_dirs.items;
    q.fold.symbols.ndebug_dirs = q.debug_dirs.n;
    q.fold.comms = q.comms.items;
    q.fold.ncomms = q.comms.n;
    q.fold.excludes = q.excludes.items;
    q.fold.nexcludes = q.excludes.n;
    if (status < 0 && first == argc)
        status =
            flame_error(FLAME_USAGE, "fold: no file named; name one, or '-' for standard input");
    q.fold.when = &q.when;
    if (status < 0 && fold_when_settle(&q.fold, "fold"))
        status = FLAME_USAGE;
    if (status < 0) {
        fold_options_for(&q.fold, &q.filter);
        recordingset_find(
            &files, argv + first, (size_t)(argc - first),
            load_recorder(q.fold.view, q.fold.idle || q.when.region, q.fold.ancestors));
        q.when.several = files.n > 1;
        status = fold_files(&q, files.paths, files.n);
        recordingset_release(&files);
    }
    fold_when_release(&q.when);
    filter_release(&q.filter);
    opts_list_release(&q.debug_dirs);
    opts_list_release(&q.comms);
    opts_list_release(&q.excludes);
    return status;
}
