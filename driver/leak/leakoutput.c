#define _GNU_SOURCE
#include "driver/leak/leakoutput.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/env/openpage.h"
#include "common/error.h"
#include "common/files/outfile.h"

#define NAME_MAX_HERE 100

static bool is_stdout(const char *to)
{
    return strcmp(to, "-") == 0;
}

static bool ends_in_slash(const char *path)
{
    size_t len = strlen(path);

    return len > 0 && path[len - 1] == '/';
}

static bool is_directory(const char *path)
{
    struct stat st;

    return ends_in_slash(path) || (stat(path, &st) == 0 && S_ISDIR(st.st_mode));
}

/* ---- before anything runs ---- */

/* The directory that `path` lies in. The caller frees it. */
static char *parent_of(const char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    while (len > 0 && path[len - 1] != '/')
        len--;
    return len ? xmemdup0(path, len) : xstrdup(".");
}

static int probe_file(const char *path)
{
    struct outfile probe;
    int err = outfile_open(&probe, path);

    if (!err)
        outfile_abort(&probe);
    return err;
}

/* Checks that the directory exists or can be created. Only a file made there shows that it is
 * writable, as root may write nearly everywhere. 0 or -errno. */
static int check_directory(const char *path)
{
    struct strbuf file = STRBUF_INIT;
    char *parent = NULL;
    struct stat st;
    int err = 0;

    if (stat(path, &st) == 0)
        err = S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
    else if (errno == ENOENT)
        path = parent = parent_of(path);
    else
        err = -errno;
    if (!err) {
        strbuf_addf(&file, "%s/leak", path);
        err = probe_file(file.buf);
    }
    strbuf_release(&file);
    free(parent);
    return err;
}

static int check_file(const char *path)
{
    /* Opening a pipe would wait for its reader. */
    int special = outfile_check_special(path);

    return special ? special < 0 ? special : 0 : probe_file(path);
}

/* Whether both are one file, and not one that can take several outputs: a terminal, a pipe,
 * /dev/null. */
static bool same_file(const char *a, const char *b)
{
    struct stat s, t;

    if (strcmp(a, b) == 0)
        return !is_directory(a) && (stat(a, &s) != 0 || S_ISREG(s.st_mode));
    return stat(a, &s) == 0 && stat(b, &t) == 0 && S_ISREG(s.st_mode) && s.st_dev == t.st_dev &&
           s.st_ino == t.st_ino;
}

static int check_shared(const struct leak_options *o, int format)
{
    const char *me = leak_formats[format].option, *to = o->to[format];

    if (same_file(o->run.output, to))
        return flame_error(FLAME_USAGE, "leak: -o %s, --%s %s: one file for two results; name two",
                           o->run.output, me, to);
    for (int other = 0; other < format; other++)
        if (o->to[other] && same_file(o->to[other], to))
            return flame_error(FLAME_USAGE,
                               "leak: --%s %s, --%s %s: one file for two formats; name two",
                               leak_formats[other].option, o->to[other], me, to);
    return 0;
}

int leak_output_check(const struct leak_options *o)
{
    int err = 0, status = 0;

    if (o->run.kind == RUN_OUTPUT_DIRECTORY)
        err = check_directory(o->run.output);
    if (err)
        return flame_cannot_write(o->run.output, err);
    for (int i = 0; i < LEAK_FORMATS && !status; i++) {
        const char *to = o->to[i];

        if (!to || is_stdout(to)) {
            status = to ? check_shared(o, i) : 0;
            continue;
        }
        err = is_directory(to) ? check_directory(to) : check_file(to);
        status = err ? flame_cannot_write(to, err) : check_shared(o, i);
    }
    return status ? status : -1;
}

/* ---- names of their own ---- */

/* Appends DIRECTORY/NAME-20261122T054533Z-PID; the second try appends "-2", and so on. */
static void add_own_name(struct strbuf *sb, const char *directory, const struct leak_report *r,
                         unsigned attempt)
{
    size_t begin, n = 0;

    strbuf_addstr(sb, directory);
    if (!ends_in_slash(directory))
        strbuf_addch(sb, '/');
    begin = sb->len;
    for (const char *s = r->name; *s && n < NAME_MAX_HERE; s++, n++) {
        bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
                     (*s >= '0' && *s <= '9') || *s == '_' || *s == '+' ||
                     (sb->len > begin && (*s == '-' || *s == '.'));

        strbuf_addch(sb, plain ? *s : '_');
    }
    strbuf_addch(sb, '-');
    leak_add_time(sb, r->started, "%Y%m%dT%H%M%SZ");
    strbuf_addf(sb, "-%ld", (long)getpid());
    if (attempt > 1)
        strbuf_addf(sb, "-%u", attempt);
}

static int make_directory(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST ? 0 : -errno;
}

/* Makes a new directory in `in`. 0 or -errno. */
static int make_own_directory(struct strbuf *path, const char *in, const struct leak_report *r)
{
    int err = make_directory(in);

    for (unsigned attempt = 1; !err; attempt++) {
        strbuf_clear(path);
        add_own_name(path, in, r, attempt);
        if (mkdir(path->buf, 0777) == 0)
            return 0;
        if (errno != EEXIST)
            err = -errno;
    }
    return err;
}

/* Makes an empty file in `in`, which reserves the name until the report replaces it. */
static int make_own_file(struct strbuf *path, const char *in, const struct leak_report *r,
                         const char *ending)
{
    int err = make_directory(in), fd;

    for (unsigned attempt = 1; !err; attempt++) {
        strbuf_clear(path);
        add_own_name(path, in, r, attempt);
        strbuf_addstr(path, ending);
        fd = open(path->buf, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            close(fd);
            return 0;
        }
        if (errno != EEXIST)
            err = -errno;
    }
    return err;
}

/* ---- writing ---- */

static int write_report(const struct leak_format *format, const struct leak_report *r,
                        const char *to)
{
    struct strbuf text = STRBUF_INIT;
    struct outfile out;
    int err;

    format->add(&text, r);
    err = outfile_open(&out, to);
    if (!err) {
        fwrite(text.buf, 1, text.len, out.f);
        err = outfile_commit(&out);
    }
    strbuf_release(&text);
    return err ? flame_cannot_write(to, err) : 0;
}

int leak_output_reports(const struct leak_options *o, const struct leak_report *r)
{
    struct strbuf path = STRBUF_INIT;
    int status = 0;

    for (int i = 0; i < LEAK_FORMATS && !status; i++) {
        const char *to = o->to[i];
        int err = 0;

        if (!to)
            continue;
        if (!is_stdout(to) && is_directory(to)) {
            err = make_own_file(&path, to, r, leak_formats[i].ending);
            to = path.buf;
        }
        status = err ? flame_cannot_write(o->to[i], err) : write_report(&leak_formats[i], r, to);
        if (status && to == path.buf)
            unlink(to);
    }
    strbuf_release(&path);
    return status ? FLAME_FAILED : 0;
}

/* Draws the picture. `reported`: whether to print how to open it. */
static int draw(const struct recording *r, const struct run_options *o, bool reported)
{
    struct strbuf folded = STRBUF_INIT;
    bool empty;
    int status = recording_text(r, o, &folded);

    if (!status)
        status = recording_put(r, o, &folded, &empty);
    if (!status && reported && !o->quiet)
        recording_print_findings(r, o, &folded, NULL);
    strbuf_release(&folded);
    return status;
}

static int draw_in(const char *directory, const struct recording *r, const struct run_options *o)
{
    static const struct {
        const char *name;
        enum run_output kind;
    } files[] = {{"leak.html", RUN_OUTPUT_PICTURE},
                 {"leak.svg", RUN_OUTPUT_PICTURE},
                 {"leak.folded", RUN_OUTPUT_FOLDED}};
    int status = 0;

    for (size_t i = 0; i < ARRAY_LEN(files) && !status; i++) {
        struct strbuf path = STRBUF_INIT;
        struct run_options one = *o;

        strbuf_addf(&path, "%s/%s", directory, files[i].name);
        one.output = path.buf;
        one.kind = files[i].kind;
        status = draw(r, &one, i == 0); /* all views are in the first */
        strbuf_release(&path);
    }
    return status;
}

static int draw_directory(const struct recording *r, const struct leak_options *o,
                          const struct leak_report *report)
{
    struct strbuf own = STRBUF_INIT, path = STRBUF_INIT;
    int err = make_own_directory(&own, o->run.output, report), status;

    status = err            ? flame_cannot_write(o->run.output, err)
             : report->over ? draw_in(own.buf, r, &o->run)
                            : 0;
    if (!status) {
        strbuf_addf(&path, "%s/leak.json", own.buf);
        status = write_report(&leak_formats[LEAK_JSON], report, path.buf);
    }
    if (!status)
        flame_warn("leak: all of them in %s/leak.%s", own.buf,
                   report->over ? "html, .svg, .folded and .json" : "json");
    if (!status && report->over && o->run.open) {
        strbuf_clear(&path);
        strbuf_addf(&path, "%s/leak.html", own.buf);
        openpage(path.buf);
    }
    strbuf_release(&own);
    strbuf_release(&path);
    return status ? FLAME_FAILED : 0;
}

int leak_output_draw(const struct recording *r, const struct leak_options *o,
                     const struct leak_report *report)
{
    int status;

    if (o->run.kind == RUN_OUTPUT_DIRECTORY)
        return draw_directory(r, o, report);
    /* Misuses have no picture. */
    if (!report->over)
        return 0;
    status = draw(r, &o->run, true);
    if (!status)
        flame_warn("leak: all of them in %s", o->run.output);
    if (!status && o->run.open)
        openpage(o->run.output);
    return status;
}
