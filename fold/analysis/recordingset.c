/*
 * The record has a segment of its own, which is found by going from segment to segment: a trace
 * need not be read for it.
 */
#include "fold/analysis/recordingset.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/procpath.h"
#include "common/files/trace_file.h"
#include "common/trace/trace_reader.h"
#include "fold/analysis/unpacktraces.h"

#define ENDING ".flame"
#define NAMED 3 /* files that are missing */

/* ---- the record ---- */

static bool is_whole(const struct trace_fileset *r)
{
    return r->files > 1 && r->file < r->files;
}

/* In the segment at `at`. */
static bool read_record(const struct trace_file *f, uint64_t at, const struct trace_segment *s,
                        struct trace_fileset *r)
{
    struct trace_meta meta;

    at += sizeof *s;
    return s->type == TRACE_SEG_META && trace_file_read(f, at, &meta, sizeof meta) &&
           meta.type == TRACE_META_RECORDING && meta.size >= sizeof *r &&
           trace_file_read(f, at + sizeof meta, r, sizeof *r) && is_whole(r);
}

static bool find_record(const struct trace_file *f, struct trace_fileset *r)
{
    struct trace_segment s;
    struct trace_header h;
    uint64_t at = sizeof h;

    if (!trace_file_read(f, 0, &h, sizeof h) || !trace_magic_matches(&h, sizeof h) ||
        h.unit != TRACE_UNIT)
        return false;
    while (at < (uint64_t)h.units * TRACE_UNIT && trace_file_read(f, at, &s, sizeof s) &&
           s.magic == TRACE_SEGMENT_MAGIC && s.units) {
        if (read_record(f, at, &s, r))
            return true;
        at += (uint64_t)s.units * TRACE_UNIT;
    }
    return false;
}

bool recordingset_of(const char *path, struct trace_fileset *r)
{
    struct trace_file f;
    bool is;

    if (trace_file_open(path, 0, &f))
        return false;
    is = find_record(&f, r);
    close(f.fd);
    return is;
}

/* The file that a trace is in, as the file system knows it, and the trace's number there. */
struct place {
    dev_t dev;
    ino_t ino;
    uint32_t number; /* from 1; 0: the file is named, not one of its traces */
};

static bool place_of(const char *path, struct place *p)
{
    uint32_t number = 0;
    struct stat st;
    char *file;
    bool is;

    if (stat(path, &st) == 0) {
        *p = (struct place){.dev = st.st_dev, .ino = st.st_ino};
        return true;
    }
    file = errno == ENOTDIR ? trace_file_split(path, &number) : NULL;
    is = file && stat(file, &st) == 0;
    *p = (struct place){.dev = st.st_dev, .ino = st.st_ino, .number = number};
    free(file);
    return is;
}

/* Whether two paths are of different traces in one file. */
static bool are_in_one_file(const char *a, const char *b)
{
    struct place x, y;

    return place_of(a, &x) && place_of(b, &y) && x.dev == y.dev && x.ino == y.ino &&
           x.number != y.number;
}

bool recordingset_are_of_one(const char *a, const char *b)
{
    struct trace_fileset x, y;

    return are_in_one_file(a, b) || (recordingset_of(a, &x) && recordingset_of(b, &y) &&
                                     x.id[0] == y.id[0] && x.id[1] == y.id[1] && x.file != y.file);
}

struct trace_fileset recordingset_new(uint32_t files)
{
    struct trace_fileset r = {.files = files};

    if (getrandom(r.id, sizeof r.id, GRND_NONBLOCK) != (ssize_t)sizeof r.id) {
        r.id[0] = clock_ns(CLOCK_REALTIME);
        r.id[1] = (uint64_t)getpid();
    }
    return r;
}

void recordingset_segment(struct strbuf *out, const struct trace_fileset *r, uint32_t metas)
{
    static const char zeros[TRACE_UNIT];
    struct trace_meta meta = {.type = TRACE_META_RECORDING, .size = sizeof *r};
    struct trace_segment s = {
        .magic = TRACE_SEGMENT_MAGIC, .type = TRACE_SEG_META, .index = metas, .units = 1};

    strbuf_add(out, &s, sizeof s);
    strbuf_add(out, &meta, sizeof meta);
    strbuf_add(out, r, sizeof *r);
    strbuf_add(out, zeros, TRACE_UNIT - sizeof s - sizeof meta - sizeof *r);
}

/* ---- the files ---- */

static bool has_ending(const char *path)
{
    size_t len = strlen(path), end = sizeof ENDING - 1;

    return len > end && strcmp(path + len - end, ENDING) == 0;
}

char *recordingset_name(const char *path, size_t i)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_add(&name, path, strlen(path) - (sizeof ENDING - 1));
    if (i)
        strbuf_addf(&name, ".%zu", i + 1);
    strbuf_addstr(&name, ENDING);
    return strbuf_detach(&name, NULL);
}

static void append(struct recordingset *s, char *path)
{
    s->paths = xreallocarray(s->paths, s->n + 1, sizeof *s->paths);
    s->paths[s->n++] = path;
}

/* The traces that were named. */
struct named {
    struct place *place;
    size_t n;
};

static struct named named_files(char *const *paths, size_t n)
{
    struct named named = {.place = xcalloc(n, sizeof *named.place)};

    for (size_t i = 0; i < n; i++)
        named.n += place_of(paths[i], &named.place[named.n]);
    return named;
}

static bool is_among(const char *path, const struct named *named)
{
    struct place p;

    if (named->n < 2 || !place_of(path, &p))
        return false;
    for (size_t i = 0; i < named->n; i++)
        if (named->place[i].ino == p.ino && named->place[i].dev == p.dev &&
            named->place[i].number == p.number)
            return true;
    return false;
}

static bool is_file(const char *path, const struct trace_fileset *first, uint32_t file)
{
    struct trace_fileset r;

    return recordingset_of(path, &r) && r.id[0] == first->id[0] && r.id[1] == first->id[1] &&
           r.file == file;
}

static void report_missing(const char *path, const struct trace_fileset *first, size_t missing,
                           const struct strbuf *names)
{
    if (missing)
        flame_warn("%s: %zu of the %" PRIu32 " files of this recording %s not beside it (%s%s), "
                   "so what they hold is not shown",
                   path, missing, first->files, missing == 1 ? "is" : "are", names->buf,
                   missing > NAMED ? "..." : "");
}

/* `first` is a stranger's number of files: those beyond one that is missing are looked for as long
 * as not too many are. */
static void append_others(struct recordingset *s, const char *path,
                          const struct trace_fileset *first, const struct named *named)
{
    struct strbuf names = STRBUF_INIT;
    size_t missing = 0;

    for (uint32_t i = 1; i < first->files; i++) {
        char *name = recordingset_name(path, i);
        bool among = is_among(name, named);

        if (!among && is_file(name, first, i)) {
            append(s, name);
            continue;
        }
        if (!among && missing++ < NAMED)
            strbuf_addf(&names, "%s%s", missing > 1 ? ", " : "", name);
        free(name);
        if (missing > 1000) {
            missing += first->files - 1 - i;
            break;
        }
    }
    s->missing += missing;
    report_missing(path, first, missing, &names);
    strbuf_release(&names);
}

uint32_t recordingset_recorder(const char *path)
{
    struct trace_header h = {.recorder = 0};
    struct trace_file f;

    if (trace_file_open(path, 0, &f))
        return 0;
    if (!trace_file_read(&f, 0, &h, sizeof h) || !trace_magic_matches(&h, sizeof h))
        h.recorder = 0;
    close(f.fd);
    return h.recorder;
}

/* The path of the i-th trace (from 0) in a file. */
static char *part_name(const char *path, uint32_t i)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_addf(&name, "%s/%" PRIu32, path, i + 1);
    return strbuf_detach(&name, NULL);
}

/* The recorder that is wanted of a file whose traces have these; 0: all are, as none has it. */
static uint32_t wanted_recorder(const uint32_t *each, uint32_t n, uint32_t recorder)
{
    for (uint32_t i = 0; i < n; i++)
        if (each[i] && (recorder == RECORDINGSET_FIRST || each[i] == recorder))
            return each[i];
    return 0;
}

/* The traces of a file that has several, instead of the file. False: it has not. */
static bool append_parts(struct recordingset *s, const char *path, const struct named *named)
{
    uint32_t n = 0, wanted, *each;

    if (trace_file_count(path, &n)) {
        flame_warn("%s: the list of its %" PRIu32 " traces is damaged, or the file is cut, so only "
                   "the first is shown; copy it again",
                   path, n);
        s->missing += n > 1 ? n - 1 : 1;
        append(s, xstrdup(path));
        return true;
    }
    each = xcalloc(n, sizeof *each);
    for (uint32_t i = 0; i < n && s->recorder != RECORDINGSET_ALL; i++) {
        char *name = part_name(path, i);

        each[i] = recordingset_recorder(name);
        free(name);
    }
    wanted = wanted_recorder(each, n, s->recorder);
    for (uint32_t i = 0; i < n; i++) {
        char *name = part_name(path, i);

        /* The reader reports a trace whose recorder is not known. */
        if ((!wanted || !each[i] || each[i] == wanted) && !is_among(name, named))
            append(s, name);
        else
            free(name);
    }
    free(each);
    return n > 0;
}

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* The traces of a file that is read from standard input, or is packed. False: it has not several.
 */
static bool append_unnamed(struct recordingset *s, const char *path, const struct named *named)
{
    struct proc_path name;
    int fd;

    if (is_stdin(path)) {
        name = proc_path_of(PROC_SELF, "fd", STDIN_FILENO);
        return lseek(STDIN_FILENO, 0, SEEK_CUR) == 0 && append_parts(s, name.s, named);
    }
    fd = unpacktraces(path);
    if (fd < 0)
        return false;
    s->fds = xreallocarray(s->fds, s->nfds + 1, sizeof *s->fds);
    s->fds[s->nfds++] = fd;
    name = proc_path_of(PROC_SELF, "fd", fd);
    return append_parts(s, name.s, named);
}

void recordingset_find(struct recordingset *s, char *const *paths, size_t n, uint32_t recorder)
{
    struct named named = named_files(paths, n);
    struct trace_fileset first;

    *s = (struct recordingset){.recorder = recorder};
    for (size_t i = 0; i < n; i++) {
        if ((!is_stdin(paths[i]) && append_parts(s, paths[i], &named)) ||
            append_unnamed(s, paths[i], &named))
            continue;
        append(s, xstrdup(paths[i]));
        if (!is_stdin(paths[i]) && has_ending(paths[i]) && recordingset_of(paths[i], &first) &&
            first.file == 0)
            append_others(s, paths[i], &first, &named);
    }
    free(named.place);
}

void recordingset_release(struct recordingset *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->paths[i]);
    free(s->paths);
    for (size_t i = 0; i < s->nfds; i++)
        close(s->fds[i]);
    free(s->fds);
    *s = (struct recordingset){.n = 0};
}
