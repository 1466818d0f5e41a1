/*
 * The record has a segment of its own, which is found by going from segment to segment: a trace
 * need not be read for it.
 */
#include "fold/analysis/recordingset.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/files/plainfile.h"
#include "common/trace/trace_reader.h"

#define ENDING ".flame"
#define NAMED 3 /* files that are missing */

/* ---- the record ---- */

static bool read_at(int fd, uint64_t at, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static bool is_whole(const struct trace_fileset *r)
{
    return r->files > 1 && r->file < r->files;
}

/* In the segment at `at`. */
static bool read_record(int fd, uint64_t at, const struct trace_segment *s, struct trace_fileset *r)
{
    struct trace_meta meta;

    at += sizeof *s;
    return s->type == TRACE_SEG_META && read_at(fd, at, &meta, sizeof meta) &&
           meta.type == TRACE_META_RECORDING && meta.size >= sizeof *r &&
           read_at(fd, at + sizeof meta, r, sizeof *r) && is_whole(r);
}

static bool find_record(int fd, struct trace_fileset *r)
{
    struct trace_segment s;
    struct trace_header h;
    uint64_t at = sizeof h;

    if (!read_at(fd, 0, &h, sizeof h) || !trace_magic_matches(&h, sizeof h) || h.unit != TRACE_UNIT)
        return false;
    while (at < (uint64_t)h.units * TRACE_UNIT && read_at(fd, at, &s, sizeof s) &&
           s.magic == TRACE_SEGMENT_MAGIC && s.units) {
        if (read_record(fd, at, &s, r))
            return true;
        at += (uint64_t)s.units * TRACE_UNIT;
    }
    return false;
}

bool recordingset_of(const char *path, struct trace_fileset *r)
{
    int fd = plainfile_open(path, O_RDONLY);
    bool is = fd >= 0 && find_record(fd, r);

    if (fd >= 0)
        close(fd);
    return is;
}

bool recordingset_are_of_one(const char *a, const char *b)
{
    struct trace_fileset x, y;

    return recordingset_of(a, &x) && recordingset_of(b, &y) && x.id[0] == y.id[0] &&
           x.id[1] == y.id[1] && x.file != y.file;
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

/* The files that were named, as the file system knows them. */
struct named {
    struct inode {
        dev_t dev;
        ino_t ino;
    } * inode;
    size_t n;
};

static struct named named_files(char *const *paths, size_t n)
{
    struct named named = {.inode = xcalloc(n, sizeof *named.inode)};
    struct stat st;

    for (size_t i = 0; i < n; i++)
        if (stat(paths[i], &st) == 0)
            named.inode[named.n++] = (struct inode){st.st_dev, st.st_ino};
    return named;
}

static bool is_among(const char *path, const struct named *named)
{
    struct stat st;

    if (named->n < 2 || stat(path, &st) != 0)
        return false;
    for (size_t i = 0; i < named->n; i++)
        if (named->inode[i].ino == st.st_ino && named->inode[i].dev == st.st_dev)
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
    report_missing(path, first, missing, &names);
    strbuf_release(&names);
}

void recordingset_find(struct recordingset *s, char *const *paths, size_t n)
{
    struct named named = named_files(paths, n);
    struct trace_fileset first;

    *s = (struct recordingset){.n = 0};
    for (size_t i = 0; i < n; i++) {
        append(s, xstrdup(paths[i]));
        if (strcmp(paths[i], "-") != 0 && has_ending(paths[i]) &&
            recordingset_of(paths[i], &first) && first.file == 0)
            append_others(s, paths[i], &first, &named);
    }
    free(named.inode);
}

void recordingset_release(struct recordingset *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->paths[i]);
    free(s->paths);
    *s = (struct recordingset){.n = 0};
}
