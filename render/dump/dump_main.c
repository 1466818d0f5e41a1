/* flame dump: a trace, record by record. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/commands.h"
#include "common/error.h"
#include "common/options/values.h"
#include "common/files/outfile.h"
#include "common/files/trace_file.h"
#include "common/procpath.h"
#include "common/trace/trace_reader.h"
#include "fold/analysis/unpacktraces.h"
#include "fold/load.h"
#include "render/dump/dump.h"
#include "render/dump/dumpsites.h"

#define TEXT_ENDINGS "txt text dump out log"

struct request {
    bool json, sites;
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

/* Takes -o. Refuses a name whose ending suggests another format, which the user would notice
 * much later. */
static int take_output(void *at, const struct opts_row *row, const struct opts_given *given)
{
    const char *ending = outfile_ending(given->value);
    struct request *q = at;

    (void)row;
    if (ending && opts_find_word(TEXT_ENDINGS " json", ending) < 0)
        return flame_error(FLAME_USAGE,
                           "dump: -o %s: its suffix names no format; end it in .txt or "
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
     "only header, module, origin, inherited, thread, node, row, mark, misuse, resident, "
     "histogram, moment, name, interval, life or region; several: each of them",
     .take = take_section, .at = AT(sections), .words = DUMP_SECTIONS},
    {"sites", 0, NULL,
     "of a program or library, not a trace: its system calls, and which of them can be patched",
     .take = opts_take_true, .at = AT(sites)},
    {"output", 'o', "FILE", "write there instead of to standard output; .json is JSON, .txt text",
     .take = take_output, .at = 0},
    {0},
};

const struct opts_command dump_command = {
    .name = "dump",
    .summary = "print what a trace holds, record by record",
    .usage = "[OPTION...] TRACE\n--sites [-j] [-o FILE] PROGRAM",
    .about = "Prints a trace as it stands in the file: header, modules, threads, nodes of the\n"
             "tree of stacks, rows of counters; a record a line. '-' is standard input. A\n"
             "trace that is being recorded is read as it is at this moment, and one that is\n"
             "compressed with gzip or zstd is unpacked.",
    .tables = {{rows, 0}},
};

/* The content to dump: either a trace, or the allocation sites in a file. */
struct content {
    const struct trace *trace;
    const struct site_list *sites;
    const char *path;
};

static int write_dump(const struct request *q, const struct content *c)
{
    struct recordtext w;
    struct outfile out;
    int err = outfile_open(&out, q->output);

    if (!err) {
        recordtext_begin(&w, out.f, q->json);
        if (c->trace)
            dump_trace(c->trace, q->sections ? q->sections : ~0u, &w);
        else
            dump_sites(c->path, c->sites, &w);
        recordtext_end(&w);
        err = outfile_commit(&out);
    }
    return err ? flame_cannot_write(q->output, err) : FLAME_OK;
}

/* Loads a trace from the `fd` of an unpacked file; `path` is as the user gave it. */
static int load_unpacked(int fd, const char *path, uint32_t number, struct trace **t)
{
    struct strbuf name = STRBUF_INIT, why = STRBUF_INIT;
    int status;

    strbuf_addf(&name, "%s/%" PRIu32, proc_path_of(PROC_SELF, "fd", fd).s, number);
    status = trace_load_linked_or_why(name.buf, &why, t);
    if (status)
        flame_error(status, "%s: cannot read: %s", path, why.buf);
    strbuf_release(&name);
    strbuf_release(&why);
    close(fd);
    return status;
}

/* Loads a trace, which may be compressed, or one of several in a file that is compressed. */
static int load(const char *path, struct trace **t)
{
    uint32_t number = 1;
    char *file = trace_file_split(path, &number);
    int fd = unpacktraces(file ? file : path), status, err;
    struct textinput in;

    free(file);
    if (fd >= 0)
        return load_unpacked(fd, path, number, t);
    err = textinput_open(&in, path);
    if (err)
        return trace_file_cannot_read(path, err);
    status = load_trace(&in, path, t);
    textinput_close(&in);
    return status;
}

/* Whether the first one of several traces in a file was read. Of a stream, load_trace reports
 * it. */
static bool is_first_of_several(const char *path, const struct trace *t)
{
    struct stat st;

    return t->header.traces > 1 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int dump_of_trace(const struct request *q, const char *path)
{
    struct trace *t;
    int status = load(path, &t);

    if (status)
        return status;
    if (is_first_of_several(path, t))
        flame_warn("%s: has %" PRIu32 " traces, of which this is the first; 'flame dump %s/2' "
                   "prints the second",
                   path, t->header.traces, path);
    status = write_dump(q, &(struct content){.trace = t});
    trace_free(t);
    return status;
}

static int dump_of_sites(const struct request *q, const char *path)
{
    struct site_list list;
    int status = q->sections ? flame_error(FLAME_USAGE, "dump: -s is of traces, not of --sites")
                             : dump_sites_load(path, &list);

    if (status == FLAME_OK) {
        status = write_dump(q, &(struct content){.sites = &list, .path = path});
        sites_release(&list);
    }
    return status;
}

int dump_main(int argc, char **argv)
{
    struct request q = {0};
    int first, status = opts_parse(&dump_command, &q, argc, argv, &first);

    if (status >= 0)
        return status;
    if (argc - first != 1)
        return flame_error(FLAME_USAGE, "dump: takes one %s; got %d", q.sites ? "file" : "trace",
                           argc - first);
    return q.sites ? dump_of_sites(&q, argv[first]) : dump_of_trace(&q, argv[first]);
}
