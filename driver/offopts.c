#include "driver/offopts.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/error.h"
#include "common/opts.h"
#include "common/strbuf.h"
#include "fold/leftout.h"

#define CHAIN_MAX 32 /* OFF_CHAIN_MAX of the tracer's */
#define CHAIN_DEFAULT 8
#define DEPTH_DEFAULT 1024
#define HZ_MAX 1000
#define HZ_DEFAULT 99
#define SECOND ((uint64_t)1000000000)

static const char help[] =
    "usage: flame off [OPTION...] [--] COMMAND [ARGUMENT...]\n"
    "       flame off [OPTION...] -p PID[,PID...]\n"
    "\n"
    "Traces where threads wait, for how long and for whom, and draws it: COMMAND from its\n"
    "start to its end, or running processes until -d or Ctrl-C. Needs no privilege.\n"
    "\n"
    "  -p, --attach PID,... all threads of these processes\n"
    "  -d, --duration TIME  stop tracing after so many seconds\n"
    "  -o, --output FILE    the result; its ending picks .svg, .html (a page with all\n"
    "                       views), .png, .folded, .flame (the trace), or an export\n"
    "                       like .pb.gz (see flame render --help)\n"
    "                       (default: COMMAND-off.svg or pid-PID-off.svg)\n"
    "      --view VIEW      off      time in calls that waited, by stack (default)\n"
    "                       wakeup   who woke, whom, and how long they had slept\n"
    "                       offwake  both: stack, '--', stack of the waker\n"
    "                       chain    the same, with the waker's waker and so on\n"
    "                       io       files and network only, by kind\n"
    "                       runq     time spent waiting for a CPU\n"
    "                       oncpu    time on a CPU (needs --hz)\n"
    "                       hotcold  time on a CPU and time waiting in one picture\n"
    "      --hz N           look at running threads N times a second, for oncpu and\n"
    "                       hotcold (default: 0, or 99 for these views)\n"
    "      --min-block TIME leave out shorter sleeps (us, ms, s; default: 0)\n"
    "      --max-block TIME leave out longer ones\n"
    "      --chain-depth N  wakers kept of a chain, 1 to 32 (default: 8)\n"
    "      --comm NAME      only threads called NAME; several: any of these\n"
    "      --exclude REGEX  no stacks with a frame that matches\n"
    "      --idle           leave out sleeps of threads that only wait for work\n"
    "      --pid            the root frame is COMM-PID\n"
    "      --tid            a frame for each thread under the root\n"
    "      --objects        keep the numbers in the names of what is waited for\n"
    "      --kernel         the kernel's frames too, where permitted\n"
    "      --depth N        frames kept of a stack, 8 to 65536 (default: 1024)\n"
    "      --no-filter      stop at every system call: slower, but set-user-id programs\n"
    "                       gain their privileges, and -d can leave COMMAND running\n"
    "      --no-follow      leave the processes alone that are started\n"
    "  -q, --quiet          print no summary\n"
    "      --help           this text\n";

enum {
    OPT_VIEW = 256,
    OPT_HZ,
    OPT_MIN_BLOCK,
    OPT_MAX_BLOCK,
    OPT_CHAIN_DEPTH,
    OPT_COMM,
    OPT_EXCLUDE,
    OPT_IDLE,
    OPT_PID,
    OPT_TID,
    OPT_OBJECTS,
    OPT_KERNEL,
    OPT_DEPTH,
    OPT_NO_FILTER,
    OPT_NO_FOLLOW,
    OPT_HELP,
};

static const struct option longopts[] = {
    {"attach", required_argument, NULL, 'p'},
    {"duration", required_argument, NULL, 'd'},
    {"output", required_argument, NULL, 'o'},
    {"view", required_argument, NULL, OPT_VIEW},
    {"hz", required_argument, NULL, OPT_HZ},
    {"min-block", required_argument, NULL, OPT_MIN_BLOCK},
    {"max-block", required_argument, NULL, OPT_MAX_BLOCK},
    {"chain-depth", required_argument, NULL, OPT_CHAIN_DEPTH},
    {"comm", required_argument, NULL, OPT_COMM},
    {"exclude", required_argument, NULL, OPT_EXCLUDE},
    {"idle", no_argument, NULL, OPT_IDLE},
    {"pid", no_argument, NULL, OPT_PID},
    {"tid", no_argument, NULL, OPT_TID},
    {"objects", no_argument, NULL, OPT_OBJECTS},
    {"kernel", no_argument, NULL, OPT_KERNEL},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"no-filter", no_argument, NULL, OPT_NO_FILTER},
    {"no-follow", no_argument, NULL, OPT_NO_FOLLOW},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, OPT_HELP},
    {NULL, 0, NULL, 0},
};

bool off_parse_time(const char *s, uint64_t unit, uint64_t *ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", SECOND}};
    char *end;
    double v;

    v = strtod(s, &end);
    /* strtod knows signs, exponents and other bases, too. */
    if ((!isdigit((unsigned char)*s) && *s != '.') || end != s + strspn(s, "0123456789."))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (strcmp(end, units[i].name) == 0) {
            unit = units[i].ns;
            end += strlen(end);
        }
    if (*end || v * (double)unit > 86.4e6 * (double)SECOND)
        return false;
    *ns = (uint64_t)(v * (double)unit + 0.5);
    return true;
}

static int take_time(const char *option, uint64_t unit, bool zero, uint64_t *ns)
{
    if (off_parse_time(optarg, unit, ns) && (*ns > 0 || zero))
        return 0;
    return flame_error(FLAME_USAGE, "off: %s %s: expected a time such as %s, 20ms or 500us", option,
                       optarg, unit == SECOND ? "10, 1.5" : "100");
}

static int take_number(const char *option, unsigned least, unsigned most, unsigned *n)
{
    char *end;
    unsigned long v = strtoul(optarg, &end, 10);

    if (isdigit((unsigned char)*optarg) && !*end && v >= least && v <= most) {
        *n = (unsigned)v;
        return 0;
    }
    return flame_error(FLAME_USAGE, "off: %s %s: expected a number from %u to %u", option, optarg,
                       least, most);
}

/* "12,34", and again with a second -p. */
static int take_pids(struct off_options *o)
{
    const char *s = optarg;

    for (char *end;; s = end + 1) {
        long pid;

        errno = 0;
        pid = strtol(s, &end, 10);
        if (!isdigit((unsigned char)*s) || (*end && *end != ',') || pid < 1 || pid > INT32_MAX ||
            errno)
            return flame_error(FLAME_USAGE, "off: -p %s: expected process ids, as 123 or 123,456",
                               optarg);
        o->pids = xreallocarray(o->pids, o->tracer.npids + 1, sizeof *o->pids);
        o->pids[o->tracer.npids++] = (pid_t)pid;
        if (!*end)
            return 0;
    }
}

static int take_exclude(struct off_options *o)
{
    const char *const regex = optarg;
    struct excludes *e = excludes_new(&regex, 1);

    if (!e)
        return FLAME_USAGE;
    excludes_free(e);
    ((const char **)o->fold.excludes)[o->fold.nexcludes++] = optarg;
    return 0;
}

static int take_value(struct off_options *o, int opt, char **argv)
{
    struct run_options *r = &o->run;

    switch (opt) {
    case 'o':
        r->output = optarg;
        return 0;
    case 'p':
        return take_pids(o);
    case 'd':
        return take_time("-d", SECOND, false, &o->tracer.duration_ns);
    case OPT_VIEW:
        r->view = optarg;
        return run_check_view("off", optarg, TRACE_RECORDER_OFF);
    case OPT_HZ:
        return take_number("--hz", 0, HZ_MAX, &o->tracer.hz);
    case OPT_MIN_BLOCK:
        return take_time("--min-block", 1000, true, &o->tracer.min_block_ns);
    case OPT_MAX_BLOCK:
        return take_time("--max-block", 1000, false, &o->tracer.max_block_ns);
    case OPT_CHAIN_DEPTH:
        return take_number("--chain-depth", 1, CHAIN_MAX, &o->tracer.chain_depth);
    case OPT_COMM:
        ((const char **)o->fold.comms)[o->fold.ncomms++] = optarg;
        return 0;
    case OPT_EXCLUDE:
        return take_exclude(o);
    case OPT_DEPTH:
        if (run_check_depth("off", optarg))
            return FLAME_USAGE;
        o->tracer.depth = (unsigned)strtoul(optarg, NULL, 10);
        return 0;
    default:
        return opts_wrong("off", argv, opt);
    }
}

static int take_option(struct off_options *o, int opt, char **argv)
{
    switch (opt) {
    case 'q':
        o->run.quiet = true;
        return 0;
    case OPT_IDLE:
        o->fold.idle = true;
        return 0;
    case OPT_PID:
        o->fold.pid = true;
        return 0;
    case OPT_TID:
        o->fold.tid = true;
        return 0;
    case OPT_OBJECTS:
        o->tracer.objects = true;
        return 0;
    case OPT_KERNEL:
        o->tracer.kernel = true;
        return 0;
    case OPT_NO_FILTER:
        o->tracer.no_filter = true;
        return 0;
    case OPT_NO_FOLLOW:
        o->tracer.no_follow = true;
        return 0;
    default:
        return take_value(o, opt, argv);
    }
}

/* What goes together, and what is left open. */
static int complete(struct off_options *o, char **rest)
{
    struct strbuf subject = STRBUF_INIT;

    if (*rest && o->fold.pid && !(*rest)[strspn(*rest, "0123456789")])
        return flame_error(FLAME_USAGE,
                           "off: --pid %s: --pid puts process ids into names; to attach say -p %s",
                           *rest, *rest);
    if (*rest && o->tracer.npids)
        return flame_error(FLAME_USAGE, "off: -p and a command, '%s'; trace one or the other",
                           *rest);
    if (!*rest && !o->tracer.npids)
        return flame_error(FLAME_USAGE, "off: no command to run and no -p; 'flame off --help' "
                                        "tells more");
    if (o->tracer.max_block_ns && o->tracer.max_block_ns < o->tracer.min_block_ns)
        return flame_error(FLAME_USAGE, "off: --max-block is less than --min-block; nothing would "
                                        "be left");
    if (*rest)
        strbuf_addstr(&subject, *rest);
    else
        strbuf_addf(&subject, "pid-%d", (int)o->pids[0]);
    o->run.subject = o->subject = strbuf_detach(&subject, NULL);
    o->run.command = *rest ? rest : NULL;
    o->tracer.argv = o->run.command;
    o->tracer.pids = o->pids;
    if (o->tracer.hz == UINT32_MAX)
        o->tracer.hz = strcmp(o->run.view, "oncpu") == 0 || strcmp(o->run.view, "hotcold") == 0
                           ? HZ_DEFAULT
                           : 0;
    return run_options_finish(&o->run);
}

int off_options_parse(struct off_options *o, int argc, char **argv)
{
    int opt, status;

    *o = (struct off_options){.run = {.me = "off", .view = "off", .follow = true}};
    o->tracer.chain_depth = CHAIN_DEFAULT;
    o->tracer.depth = DEPTH_DEFAULT;
    o->tracer.hz = UINT32_MAX; /* not given */
    o->words = xcalloc(2 * (size_t)argc, sizeof *o->words);
    o->fold.comms = o->words;
    o->fold.excludes = o->words + argc;
    opterr = 0;
    optind = 0;
    /* '+': what follows the command's name is the command's. */
    while ((opt = getopt_long(argc, argv, "+:o:p:d:q", longopts, NULL)) != -1) {
        if (opt == OPT_HELP) {
            fputs(help, stdout);
            return FLAME_OK;
        }
        status = take_option(o, opt, argv);
        if (status)
            return status;
    }
    return complete(o, argv + optind);
}

void off_options_release(struct off_options *o)
{
    run_options_release(&o->run);
    free(o->pids);
    free(o->words);
    free(o->subject);
}
