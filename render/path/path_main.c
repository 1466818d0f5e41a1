/* flame path: the critical path of a recording of waiting in words, and bounds of what could be
 * gained. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "common/alloc.h"
#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "fold/analysis/recordingset.h"
#include "fold/load.h"
#include "render/path/pathtext.h"
#include "render/text/outstream.h"

#define VIEW "critical"
#define CPUS_MAX 65536

_Static_assert(WHATIF_RULES_MAX < CRITICAL_TEXT_MOST, "each rule has a result, and so have all");

struct request {
    struct fold_when when;
    struct whatif_rules rules;
    unsigned cpus;
    bool folded;
    const char *output;
};

#define AT(member) offsetof(struct request, member)

static const struct opts_row rows[] = {
    {"what-if", .arg = "REGEX=PART",
     .help = "by how much the path would be shorter at most if waits that match took that part of "
             "their time, 0 to 1; several: each, and all together",
     .take = whatif_take, .at = AT(rules)},
    {"cpus", .arg = "N", .help = "with --what-if: all threads share N processors",
     .take = opts_take_uint, .at = AT(cpus), 1, CPUS_MAX},
    {"output", 'o', "FILE",
     "write the picture there instead (.svg, .html, .png, .folded...): 'flame render --view "
     "critical'",
     .take = opts_take_text, .at = AT(output)},
    {"folded", .help = "write its folded stacks instead: 'flame fold --view critical'",
     .take = opts_take_true, .at = AT(folded)},
    {0},
};

const struct opts_command path_command = {
    .name = "path",
    .summary = "say what the length of a run is made of, and what could be gained",
    .usage = "[OPTION...] FILE",
    .about = "Prints the critical path of a trace of 'flame off': the chain of running and\n"
             "waiting that the length of the run is made of, its threads, what they waited\n"
             "for, and by how much it could be shorter. FILE '-' is standard input.",
    .tables = {{rows, 0}, {fold_path_rows, AT(when)}},
};

/* ---- the picture ---- */

static bool is_folded(const struct request *q)
{
    size_t len = q->output ? strlen(q->output) : 0;

    return q->folded || (len > 7 && strcmp(q->output + len - 7, ".folded") == 0);
}

static char *time_text(uint64_t ns)
{
    struct strbuf sb = STRBUF_INIT;

    strbuf_addf(&sb, "%" PRIu64 ".%03" PRIu64 "us", ns / 1000, ns % 1000);
    return strbuf_detach(&sb, NULL);
}

/* Calls the command that makes it, with the same range. */
static int draw(const struct request *q, char *file)
{
    char *from = time_text(q->when.from.asked_ns), *to = time_text(q->when.to.asked_ns);
    char fold[] = "fold", render[] = "render", end[] = "--";
    const struct {
        const char *name, *value;
    } options[] = {{"--view", VIEW},
                   {"--output", q->output},
                   {"--from", q->when.from.given ? from : NULL},
                   {"--to", q->when.to.given ? to : NULL},
                   {"--ends-in", q->when.ends_in},
                   {"--region", q->when.region}};
    char *argv[2 * ARRAY_LEN(options) + 4] = {is_folded(q) ? fold : render};
    size_t n = 1;
    int status;

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (options[i].value) {
            argv[n++] = xstrdup(options[i].name);
            argv[n++] = xstrdup(options[i].value);
        }
    argv[n] = end;
    argv[n + 1] = file;
    status = is_folded(q) ? fold_main((int)n + 2, argv) : render_main((int)n + 2, argv);
    while (n > 1)
        free(argv[--n]);
    free(from);
    free(to);
    return status;
}

/* ---- the words ---- */

/* Folds the trace to text, which has the path in its comments. */
static int fold(struct fold_options *opt, char *const *paths, size_t n, struct strbuf *text)
{
    struct load l;
    int status = FLAME_OK;

    load_init(&l, "path", opt);
    for (size_t i = 0; i < n && status == FLAME_OK; i++)
        status = load_file(&l, paths[i]);
    if (status == FLAME_OK && l.texts)
        status = flame_error(FLAME_USAGE,
                             "path: %s: is folded text, which has no times; give it the trace, "
                             "x.flame",
                             paths[0]);
    if (status == FLAME_OK)
        status = load_parts(&l);
    if (status == FLAME_OK) {
        size_t ntraces;
        struct trace *const *traces = tracesums_get(l.traces, &ntraces);

        status = fold_loaded(opt, traces, ntraces, text);
    }
    load_release(&l);
    return status;
}

static int print(const struct pathtext *p)
{
    struct outstream out = OUTSTREAM_INIT(stdout);
    int err;

    pathtext_add_path(&out.sb, p);
    pathtext_add_what_if(&out.sb, p);
    err = outstream_end(&out);
    if (!err && fflush(stdout) != 0)
        err = -errno;
    return err ? flame_cannot_write(NULL, err) : FLAME_OK;
}

static int report(struct request *q, struct fold_options *opt, const char *name, char *const *paths,
                  size_t n)
{
    struct strbuf text = STRBUF_INIT;
    struct critical_text path;
    const struct pathtext p = {.path = &path,
                               .rules = &q->rules,
                               .cpus = q->cpus,
                               .range = q->when.from.given || q->when.to.given};
    int status = fold(opt, paths, n, &text);

    critical_text_init(&path);
    critical_text_all(&path, &text);
    if (status == FLAME_OK && !path.ends_in)
        status = flame_error(FLAME_USAGE, "path: %s: has no critical path: nothing was recorded%s",
                             name, q->when.region ? " in such a region" : "");
    if (status == FLAME_OK && path.paths > 1)
        flame_warn("path: %s: has %" PRIu64 " recordings; the path is that of the first", name,
                   path.paths);
    for (size_t i = 0; status == FLAME_OK && i < q->rules.n && i < path.nwhat_if; i++)
        if (!path.what_if[i].all)
            flame_warn("path: --what-if %s: no wait of the recording matches; 'flame fold --view "
                       "off' has the names",
                       q->rules.rule[i].text);
    if (status == FLAME_OK)
        status = print(&p);
    critical_text_release(&path);
    strbuf_release(&text);
    return status;
}

/* 0, or FLAME_USAGE after a line. */
static int check(const struct request *q, size_t nfiles)
{
    if (nfiles != 1)
        return flame_error(FLAME_USAGE,
                           "path: takes one trace; got %zu; name one, or '-' for "
                           "standard input",
                           nfiles);
    if (q->rules.n && (q->output || q->folded))
        return flame_error(FLAME_USAGE, "path: --what-if is of the words, and a picture has none; "
                                        "leave out -o and --folded");
    if (q->cpus && !q->rules.n)
        return flame_error(FLAME_USAGE, "path: --cpus is of --what-if; add that");
    if (q->cpus && q->when.region)
        return flame_error(FLAME_USAGE,
                           "path: --cpus is of one path, and --region of several; leave "
                           "one out");
    return 0;
}

int path_main(int argc, char **argv)
{
    struct request q = {.cpus = 0};
    struct fold_options opt = {.view = VIEW, .no_hint = true};
    struct recordingset files;
    int first, status = opts_parse(&path_command, &q, argc, argv, &first);

    opt.when = &q.when;
    if (status < 0)
        status = check(&q, (size_t)(argc - first));
    else if (!status)
        status = -1; /* the help was printed */
    if (!status)
        status = fold_when_settle(&opt, "path");
    if (!status && (q.output || q.folded)) {
        status = draw(&q, argv[first]);
    } else if (!status) {
        q.when.what_if = &q.rules;
        recordingset_find(&files, argv + first, 1, load_recorder(VIEW, true, false));
        q.when.several = files.n > 1;
        status = report(&q, &opt, argv[first], files.paths, files.n);
        recordingset_release(&files);
    }
    fold_when_release(&q.when);
    whatif_rules_release(&q.rules);
    return status < 0 ? FLAME_OK : status;
}
