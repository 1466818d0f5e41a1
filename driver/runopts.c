#include "driver/runopts.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/error.h"
#include "common/outfile.h"
#include "common/strbuf.h"
#include "fold/viewtable.h"
#include "render/backend.h"

/* The recorder's own limits, see preload/config.h. */
#define DEPTH_MIN 8
#define DEPTH_MAX 65536
#define SAMPLE_MAX ((uint64_t)1 << 40)

enum {
    OPT_VIEW = 256,
    OPT_DEPTH,
    OPT_SAMPLE,
    OPT_NO_FOLLOW,
    OPT_SHIM,
    OPT_MAX_BYTES,
    OPT_HELP,
};

static const struct option mem_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"view", required_argument, NULL, OPT_VIEW},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"sample", required_argument, NULL, OPT_SAMPLE},
    {"no-follow", no_argument, NULL, OPT_NO_FOLLOW},
    {"quiet", no_argument, NULL, 'q'},
    {"shim", no_argument, NULL, OPT_SHIM},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

static const struct option leak_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"max-bytes", required_argument, NULL, OPT_MAX_BYTES},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"no-follow", no_argument, NULL, OPT_NO_FOLLOW},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

bool run_parse_bytes(const char *s, uint64_t *bytes)
{
    unsigned long long value;
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)*s))
        return false;
    errno = 0;
    value = strtoull(s, &end, 10);
    if (errno)
        return false;
    switch (*end) {
    case 'g':
    case 'G':
        shift += 10; /* fall through */
    case 'm':
    case 'M':
        shift += 10; /* fall through */
    case 'k':
    case 'K':
        shift += 10;
        end++;
    }
    if (*end || value > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)value << shift;
    return true;
}

static bool ends_with(const char *s, const char *ending)
{
    size_t len = strlen(s), n = strlen(ending);

    return len > n && strcmp(s + len - n, ending) == 0;
}

/* NAME-mem.svg for a command called NAME, without what would be awkward in a file name. */
static void default_output(struct run_options *o)
{
    const char *slash = strrchr(o->subject, '/');
    struct strbuf name = STRBUF_INIT;

    strbuf_addstr(&name, slash ? slash + 1 : o->subject);
    for (size_t i = 0; i < name.len; i++)
        if (iscntrl((unsigned char)name.buf[i]) || (i == 0 && name.buf[i] == '-'))
            name.buf[i] = '_';
    strbuf_addf(&name, "-%s.svg", o->me);
    o->owned_output = strbuf_detach(&name, NULL);
    o->output = o->owned_output;
}

static int wrong_ending(const struct run_options *o)
{
    struct strbuf endings = STRBUF_INIT;

    backend_add_endings(&endings);
    flame_error(FLAME_USAGE,
                "%s: -o %s: its ending does not say what to write; end it in .flame, %s", o->me,
                o->output, endings.buf);
    strbuf_release(&endings);
    return FLAME_USAGE;
}

/* What the ending says, and whether the file can be made. */
static int check_output(struct run_options *o)
{
    struct outfile probe;
    struct stat st;
    int err;

    if (ends_with(o->output, ".folded"))
        o->kind = RUN_OUTPUT_FOLDED;
    else if (ends_with(o->output, ".flame"))
        o->kind = RUN_OUTPUT_TRACE;
    else if (backend_for_file(o->output))
        o->kind = RUN_OUTPUT_PICTURE;
    else
        return wrong_ending(o);
    if (stat(o->output, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            return flame_error(FLAME_USAGE, "%s: -o %s: is a directory; name a file in it", o->me,
                               o->output);
        /* Opening a pipe would wait for its reader. */
        if (!S_ISREG(st.st_mode))
            return 0;
    }
    err = outfile_open(&probe, o->output);
    if (err)
        return flame_error(FLAME_USAGE,
                           "%s: -o %s: cannot be written: %s; choose a directory that is there and "
                           "writable",
                           o->me, o->output, strerror(-err));
    outfile_abort(&probe);
    return 0;
}

int run_check_depth(const char *me, const char *depth)
{
    char *end;
    long n = strtol(depth, &end, 10);

    if (isdigit((unsigned char)*depth) && !*end && n >= DEPTH_MIN && n <= DEPTH_MAX)
        return 0;
    return flame_error(FLAME_USAGE, "%s: --depth %s: expected a number of frames from %d to %d", me,
                       depth, DEPTH_MIN, DEPTH_MAX);
}

int run_check_view(const char *me, const char *name, uint32_t recorder)
{
    const struct view *view = view_find(name);
    struct strbuf names = STRBUF_INIT;

    if (view && view->recorder == recorder)
        return 0;
    view_list(&names, recorder);
    flame_error(FLAME_USAGE, "%s: --view %s: unknown view; there are %s", me, name, names.buf);
    strbuf_release(&names);
    return FLAME_USAGE;
}

static int take_option(struct run_options *o, int opt, char **argv)
{
    switch (opt) {
    case 'o':
        o->output = optarg;
        return 0;
    case 'q':
        o->quiet = true;
        return 0;
    case OPT_VIEW:
        o->view = optarg;
        return run_check_view(o->me, o->view, TRACE_RECORDER_MEM);
    case OPT_DEPTH:
        o->depth = optarg;
        return run_check_depth(o->me, o->depth);
    case OPT_SAMPLE:
        if (run_parse_bytes(optarg, &o->sample) && o->sample <= SAMPLE_MAX)
            return 0;
        return flame_error(FLAME_USAGE,
                           "%s: --sample %s: expected bytes, with k, m or g if you like, up to "
                           "1024g; 0 records every block",
                           o->me, optarg);
    case OPT_NO_FOLLOW:
        o->follow = false;
        return 0;
    case OPT_SHIM:
        o->only_shim = true;
        return 0;
    case OPT_MAX_BYTES:
        if (run_parse_bytes(optarg, &o->max_bytes))
            return 0;
        return flame_error(FLAME_USAGE, "%s: --max-bytes %s: expected bytes, as 4096, 4k or 1m",
                           o->me, optarg);
    case ':':
        return flame_error(FLAME_USAGE, "%s: %s wants a value; 'flame %s --help' tells more", o->me,
                           argv[optind - 1], o->me);
    default:
        if (optopt && optopt < 256)
            return flame_error(FLAME_USAGE,
                               "%s: unknown option -%c; 'flame %s --help' lists what there is",
                               o->me, optopt, o->me);
        return flame_error(FLAME_USAGE,
                           "%s: unknown option %s; 'flame %s --help' lists what there is", o->me,
                           argv[optind - 1], o->me);
    }
}

int run_options_parse(struct run_options *o, int argc, char **argv, void (*help)(void))
{
    const struct option *table = strcmp(o->me, "leak") == 0 ? leak_options : mem_options;
    int opt, status;

    opterr = 0;
    optind = 0;
    /* '+': what follows the command's name is the command's. */
    while ((opt = getopt_long(argc, argv, "+:o:q", table, NULL)) != -1) {
        if (opt == OPT_HELP) {
            help();
            return FLAME_OK;
        }
        status = take_option(o, opt, argv);
        if (status)
            return status;
    }
    if (o->only_shim)
        return -1;
    o->command = argv + optind;
    if (optind >= argc)
        return flame_error(FLAME_USAGE, "%s: no command to run; 'flame %s --help' tells more",
                           o->me, o->me);
    o->subject = o->command[0];
    return run_options_finish(o);
}

int run_options_finish(struct run_options *o)
{
    int status;

    if (!o->output)
        default_output(o);
    status = check_output(o);
    return status ? status : -1;
}

void run_options_release(struct run_options *o)
{
    free(o->owned_output);
    o->owned_output = NULL;
}
