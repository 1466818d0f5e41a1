/* flame fold: traces to folded stacks, folded stacks of several files to one. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/opts.h"
#include "common/outfile.h"
#include "fold/collapse_load.h"
#include "fold/fold.h"

static const char help[] =
    "usage: flame fold [OPTION...] FILE...\n"
    "\n"
    "Folds traces into stacks of function names, one a line, with what each\n"
    "stands for. A file that is folded already is taken as it is. Several files give\n"
    "one output, their counts added up. FILE '-' is standard input.\n"
    "\n"
    "  -v, --view VIEW      of memory: alloc (bytes asked for; the default), count (calls),\n"
    "                       live (bytes not freed), peak (bytes live at the high-water\n"
    "                       mark), temp (freed before the thread's next allocation);\n"
    "                       of waiting, in microseconds: off (the default), wakeup, offwake,\n"
    "                       chain, io, runq, oncpu, hotcold; 'flame off --help' tells more\n"
    "  -o, --output FILE    write there instead of to standard output\n"
    "      --pid            the root frame is COMM-PID\n"
    "      --tid            a frame for each thread under the root\n"
    "      --comm NAME      only of threads called NAME; several: of any of these\n"
    "      --exclude REGEX  no stacks with a frame that matches\n"
    "      --idle           no sleeps of threads that only wait for work\n"
    "      --no-demangle    leave C++ and Rust names as they are in the file\n"
    "      --inline         show inlined functions, marked _[i] (the default where\n"
    "                       there is debug information)\n"
    "      --no-inline      do not\n"
    "      --lines          add file and line to frames\n"
    "      --debug-dir DIR  look for debug files there too, as in /usr/lib/debug\n"
    "      --no-header      leave out the '# flame:' lines\n"
    "      --help           this text\n"
    "\n" FILTER_HELP;

enum {
    OPT_PID = 256,
    OPT_TID,
    OPT_COMM,
    OPT_EXCLUDE,
    OPT_IDLE,
    OPT_NO_DEMANGLE,
    OPT_INLINE,
    OPT_NO_INLINE,
    OPT_LINES,
    OPT_DEBUG_DIR,
    OPT_NO_HEADER,
    OPT_HELP,
};

static const struct option longopts[] = {
    {"view", required_argument, NULL, 'v'},
    {"output", required_argument, NULL, 'o'},
    {"pid", no_argument, NULL, OPT_PID},
    {"tid", no_argument, NULL, OPT_TID},
    {"comm", required_argument, NULL, OPT_COMM},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"idle", no_argument, NULL, OPT_IDLE},
    {"no-demangle", no_argument, NULL, OPT_NO_DEMANGLE},
    {"inline", no_argument, NULL, OPT_INLINE},
    {"no-inline", no_argument, NULL, OPT_NO_INLINE},
    {"lines", no_argument, NULL, OPT_LINES},
    {"debug-dir", required_argument, NULL, OPT_DEBUG_DIR},
    {"no-header", no_argument, NULL, OPT_NO_HEADER},
    {"help", no_argument, NULL, OPT_HELP},
    FILTER_OPTIONS,
    {NULL, 0, NULL, 0},
};

struct request {
    struct fold_options fold;
    struct filter filter;
    const char *output;
    const char **debug_dirs, **comms, **excludes;
};

static void put_line(void *file, const char *line, size_t len)
{
    /* What goes wrong is asked for once, when the file is committed. */
    fwrite(line, 1, len, file);
}

static int cannot_write(const char *path, int err)
{
    return flame_error(err == -ENOENT || err == -ENOTDIR || err == -EACCES ? FLAME_USAGE
                                                                           : FLAME_FAILED,
                       "%s: cannot write: %s; name another file with -o",
                       path ? path : "standard output", strerror(-err));
}

static int write_traces(const struct fold_options *opt, struct trace *const *traces, size_t ntraces,
                        const char *output)
{
    struct outfile out;
    int err = outfile_open(&out, output), status;

    if (err)
        return cannot_write(output, err);
    status = fold_loaded_to(opt, traces, ntraces, put_line, out.f);
    if (status != FLAME_OK) {
        outfile_abort(&out);
        return status;
    }
    err = outfile_commit(&out);
    return err ? cannot_write(output, err) : FLAME_OK;
}

static int fold_files(struct request *q, char **paths, size_t npaths)
{
    struct collapse_load l;
    int status = FLAME_OK;

    collapse_load_init(&l, "fold", &q->fold);
    l.filter = &q->filter;
    for (size_t i = 0; i < npaths && status == FLAME_OK; i++)
        status = collapse_load_file(&l, paths[i]);
    if (status == FLAME_OK && (l.texts || q->filter.active)) {
        status = collapse_load_traces(&l);
        if (q->fold.no_header)
            strbuf_clear(&l.meta);
        if (status == FLAME_OK)
            status = collapse_load_filter(&l, "fold");
        if (status == FLAME_OK)
            status = collapse_load_write(&l, q->output);
    } else if (status == FLAME_OK) {
        status = write_traces(&q->fold, l.traces, l.ntraces, q->output);
    }
    collapse_load_release(&l);
    return status;
}

/* -1: go on; else the exit status. */
static int take_option(struct request *q, int option, char **argv)
{
    struct fold_options *opt = &q->fold;
    int status = filter_option(&q->filter, "fold", option, optarg);

    if (status >= 0)
        return status == FLAME_OK ? -1 : status;
    switch (option) {
    case 'v':
        opt->view = optarg;
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
    case OPT_COMM:
        q->comms[opt->ncomms++] = optarg;
        break;
    case OPT_EXCLUDE:
        q->excludes[opt->nexcludes++] = optarg;
        break;
    case OPT_IDLE:
        opt->idle = true;
        break;
    case OPT_NO_DEMANGLE:
        opt->symbols.no_demangle = true;
        break;
    case OPT_INLINE:
        opt->symbols.no_inline = false;
        break;
    case OPT_NO_INLINE:
        opt->symbols.no_inline = true;
        break;
    case OPT_LINES:
        opt->symbols.lines = true;
        break;
    case OPT_DEBUG_DIR:
        q->debug_dirs[opt->symbols.ndebug_dirs++] = optarg;
        break;
    case OPT_NO_HEADER:
        opt->no_header = true;
        break;
    case OPT_HELP:
        fputs(help, stdout);
        return FLAME_OK;
    default:
        return opts_wrong("fold", argv, option);
    }
    return -1;
}

int fold_main(int argc, char **argv)
{
    struct request q = {.filter = FILTER_INIT};
    int c, status = -1;

    q.fold.symbols.debug_dirs = q.debug_dirs = xcalloc(3 * (size_t)argc, sizeof *q.debug_dirs);
    q.fold.comms = q.comms = q.debug_dirs + argc;
    q.fold.excludes = q.excludes = q.comms + argc;
    opterr = 0;
    optind = 1;
    while (status < 0 && (c = getopt_long(argc, argv, ":v:o:", longopts, NULL)) != -1)
        status = take_option(&q, c, argv);
    if (status < 0 && optind == argc)
        status =
            flame_error(FLAME_USAGE, "fold: no file named; name one, or '-' for standard input");
    if (status < 0) {
        fold_options_for(&q.fold, &q.filter);
        status = fold_files(&q, argv + optind, (size_t)(argc - optind));
    }
    filter_release(&q.filter);
    free(q.debug_dirs);
    return status;
}
