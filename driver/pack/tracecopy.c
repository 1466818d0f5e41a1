/*
 * Segments of a trace are copied one by one, as far as they are in use; room that the recorder had
 * reserved lies behind them. Names that the trace carries are dropped if new ones replace them and
 * they come last, which is usual. Else they become a gap, because places in the file are known by
 * their offsets.
 */
#include "driver/pack/tracecopy.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/files/plainfile.h"
#include "common/files/outfile.h"
#include "common/trace_format.h"
#include "driver/monitor/momentfile.h"
#include "fold/analysis/recordingset.h"
#include "fold/pack/packing.h"

/* The end of a trace. */
struct extent {
    uint64_t end;   /* of the segments in use */
    uint64_t names; /* begin of the segments of names at the end; or `end` */
    uint32_t metas; /* number of segments of metadata, without dropped names */
    bool moments;   /* the trace itself has moments */
};

static bool read_at(int fd, uint64_t at, void *to, size_t size)
{
    return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

/* The type of a segment's first record, if the segment is of metadata; else TRACE_META_END.
 * Names and moments have segments of their own. */
static uint32_t first_meta(int fd, uint64_t at, const struct trace_segment *s)
{
    struct trace_meta meta;

    return s->type == TRACE_SEG_META && read_at(fd, at + sizeof *s, &meta, sizeof meta)
               ? meta.type
               : TRACE_META_END;
}

static bool are_names(int fd, uint64_t at, const struct trace_segment *s)
{
    return first_meta(fd, at, s) == TRACE_META_NAMES;
}

/* The segment at `at`, if one in use is there. */
static bool segment_at(int fd, uint64_t at, uint64_t end, struct trace_segment *s)
{
    return at < end && read_at(fd, at, s, sizeof *s) && s->magic == TRACE_SEGMENT_MAGIC && s->units;
}

static struct extent extent_of(int fd, const struct trace_header *h, bool names_stay)
{
    uint64_t end = (uint64_t)h->units * TRACE_UNIT;
    struct extent e = {.end = sizeof *h, .names = sizeof *h};
    struct trace_segment s;

    for (; segment_at(fd, e.end, end, &s); e.end += (uint64_t)s.units * TRACE_UNIT) {
        uint32_t first = first_meta(fd, e.end, &s);

        e.moments = e.moments || first == TRACE_META_MOMENT || first == TRACE_META_TIME_ZERO;
        if (!names_stay && first == TRACE_META_NAMES)
            continue;
        e.metas += s.type == TRACE_SEG_META;
        e.names = e.end + (uint64_t)s.units * TRACE_UNIT;
    }
    if (e.end > end)
        e.end = end;
    if (e.names > e.end)
        e.names = e.end;
    return e;
}

/* Copies `size` bytes of a file from `at` on. 0 or -errno. */
static int copy_bytes(int fd, uint64_t at, uint64_t size, FILE *to)
{
    char buf[8192]; /* the command's limit of the stack is flame's */
    ssize_t n = 0;

    while (size && (n = pread(fd, buf, size < sizeof buf ? size : sizeof buf, (off_t)at)) > 0) {
        size -= (uint64_t)n;
        at += (uint64_t)n;
        if (fwrite(buf, 1, (size_t)n, to) != (size_t)n)
            return 0; /* outfile_commit reports the error */
    }
    return n < 0 ? -errno : 0;
}

/* The segments up to `end`; with `gaps` names among them become gaps. */
static int copy_segments(int fd, uint64_t end, bool gaps, FILE *to)
{
    uint64_t at = sizeof(struct trace_header);
    struct trace_segment s;
    uint32_t metas = 0;
    int err = 0;

    if (!gaps)
        return copy_bytes(fd, at, end - at, to);
    while (!err && segment_at(fd, at, end, &s)) {
        uint64_t size = (uint64_t)s.units * TRACE_UNIT;

        if (size > end - at)
            size = end - at;
        if (are_names(fd, at, &s)) {
            s.type = TRACE_SEG_FREE;
            s.index = 0;
        } else if (s.type == TRACE_SEG_META) {
            s.index = metas++;
        }
        fwrite(&s, 1, sizeof s, to);
        err = copy_bytes(fd, at + sizeof s, size - sizeof s, to);
        at += size;
    }
    return err;
}

/* 0 or -errno. */
static int write_copy(int fd, bool replaces, struct trace_header h, uint64_t end, bool gaps,
                      const struct strbuf *behind, const char *to)
{
    struct outfile out;
    struct stat st;
    int err = outfile_open(&out, to);

    if (err)
        return err;
    /* The copy must not be readable for more users than the original was. If its group cannot be
     * set, the present group gets no rights. */
    if (replaces && fstat(fd, &st) == 0 && out.aside) {
        bool same = fchown(fileno(out.f), st.st_uid, st.st_gid) == 0;

        fchmod(fileno(out.f), st.st_mode & (same ? 0777 : 0700));
    }
    h.units = (uint32_t)((end + behind->len) / TRACE_UNIT);
    fwrite(&h, 1, sizeof h, out.f);
    err = copy_segments(fd, end, gaps, out.f);
    fwrite(behind->buf, 1, behind->len, out.f);
    if (!err)
        return outfile_commit(&out);
    outfile_abort(&out);
    return err;
}

/* Gathers the segments that follow those of the trace: moments, the recording it belongs to, and
 * names. */
static int gather_behind(const char *from, const struct trace_header *h, struct extent e,
                         const struct trace_fileset *of, const struct strbuf *names,
                         struct strbuf *behind)
{
    struct trace_segment s;
    int status = 0;

    /* Like trace_moments_beside: no moments of another process, and none twice. */
    if (!e.moments && momentfile_is_of(from, h))
        status = momentfile_segments(behind, from, e.metas);

    for (size_t at = 0; !status && at < behind->len; at += (size_t)s.units * TRACE_UNIT) {
        memcpy(&s, behind->buf + at, sizeof s);
        e.metas++;
    }
    if (!status && of->files)
        recordingset_segment(behind, of, e.metas++);
    if (!status && names)
        packing_segment(behind, names, e.metas);
    return status;
}

int tracecopy(const char *from, const char *to, const struct trace_fileset *of,
              const struct strbuf *names)
{
    int fd = plainfile_open(from, O_RDONLY), err = fd < 0 ? fd : 0, status = 0;
    struct strbuf behind = STRBUF_INIT;
    struct trace_header h;
    struct extent e;

    if (!err && !read_at(fd, 0, &h, sizeof h))
        err = -EIO;
    if (!err) {
        e = extent_of(fd, &h, !names);
        status = gather_behind(from, &h, e, of, names, &behind);
    }
    if (!err && !status)
        err = write_copy(fd, strcmp(from, to) == 0, h, e.names, names != NULL, &behind, to);
    if (fd >= 0)
        close(fd);
    strbuf_release(&behind);
    if (err)
        flame_cannot_write(to, err);
    return err ? FLAME_FAILED : status;
}
