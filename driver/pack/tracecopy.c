/*
 * Segments of a trace are copied one by one, as far as they are in use; room that the recorder had
 * reserved lies behind them. Names that the trace carries are dropped if new ones replace them, and
 * so is the record of its recording, if they come last, which is usual. Else they become a gap,
 * because places in the file are known by their offsets.
 */
#include "driver/pack/tracecopy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/files/outfile.h"
#include "common/files/trace_file.h"
#include "common/trace_format.h"
#include "driver/monitor/momentfile.h"
#include "fold/analysis/recordingset.h"
#include "fold/pack/packing.h"

/* The end of a trace. */
struct extent {
    uint64_t end;   /* of the segments in use */
    uint64_t kept;  /* end of those that are copied: dropped ones may lie behind it */
    uint32_t metas; /* number of segments of metadata, without dropped ones */
    bool moments;   /* the trace itself has moments */
    bool gaps;      /* dropped segments may lie among those that remain */
};

/* Segments that are not copied. Each has a segment of its own. */
struct dropped {
    bool names;
    bool record; /* of the recording that the trace belongs to (recordingset.h) */
};

static bool is_dropped(uint32_t first_meta, struct dropped d)
{
    return (d.names && first_meta == TRACE_META_NAMES) ||
           (d.record && first_meta == TRACE_META_RECORDING);
}

/* The type of a segment's first record, if the segment is of metadata; else TRACE_META_END.
 * Names and moments have segments of their own. */
static uint32_t first_meta(const struct trace_file *f, uint64_t at, const struct trace_segment *s)
{
    struct trace_meta meta;

    return s->type == TRACE_SEG_META && trace_file_read(f, at + sizeof *s, &meta, sizeof meta)
               ? meta.type
               : TRACE_META_END;
}

/* The segment at `at`, if one in use is there. */
static bool segment_at(const struct trace_file *f, uint64_t at, uint64_t end,
                       struct trace_segment *s)
{
    return at < end && trace_file_read(f, at, s, sizeof *s) && s->magic == TRACE_SEGMENT_MAGIC &&
           s->units;
}

static struct extent extent_of(const struct trace_file *f, const struct trace_header *h,
                               struct dropped d)
{
    uint64_t end = (uint64_t)h->units * TRACE_UNIT;
    struct extent e = {.end = sizeof *h, .kept = sizeof *h};
    struct trace_segment s;

    for (; segment_at(f, e.end, end, &s); e.end += (uint64_t)s.units * TRACE_UNIT) {
        uint32_t first = first_meta(f, e.end, &s);

        e.moments = e.moments || first == TRACE_META_MOMENT || first == TRACE_META_TIME_ZERO;
        e.gaps = e.gaps || is_dropped(first, d);
        if (is_dropped(first, d))
            continue;
        e.metas += s.type == TRACE_SEG_META;
        e.kept = e.end + (uint64_t)s.units * TRACE_UNIT;
    }
    if (e.end > end)
        e.end = end;
    if (e.kept > e.end)
        e.kept = e.end;
    return e;
}

/* The file that is written, and the number of bytes written to it; outfile_commit reports
 * errors. */
struct sink {
    FILE *f;
    uint64_t n;
};

static void put(struct sink *to, const void *data, size_t size)
{
    to->n += fwrite(data, 1, size, to->f);
}

/* Copies `size` bytes of a trace from `at` on, or fewer if it is shorter. 0 or -errno. */
static int copy_bytes(const struct trace_file *f, uint64_t at, uint64_t size, struct sink *to)
{
    char buf[8192]; /* the command's limit of the stack is flame's */
    ssize_t n = 0;

    if (at > f->size || size > f->size - at)
        size = at > f->size ? 0 : f->size - at;
    while (size && !ferror(to->f) &&
           (n = pread(f->fd, buf, size < sizeof buf ? size : sizeof buf, (off_t)(f->at + at))) >
               0) {
        size -= (uint64_t)n;
        at += (uint64_t)n;
        put(to, buf, (size_t)n);
    }
    return n < 0 ? -errno : 0;
}

/* The segments that are copied; dropped ones among them become gaps. */
static int copy_segments(const struct trace_file *f, struct extent e, struct dropped d,
                         struct sink *to)
{
    uint64_t at = sizeof(struct trace_header);
    struct trace_segment s;
    uint32_t metas = 0;
    int err = 0;

    if (!e.gaps)
        return copy_bytes(f, at, e.kept - at, to);
    while (!err && segment_at(f, at, e.kept, &s)) {
        uint64_t size = (uint64_t)s.units * TRACE_UNIT;

        if (size > e.kept - at)
            size = e.kept - at;
        if (is_dropped(first_meta(f, at, &s), d)) {
            s.type = TRACE_SEG_FREE;
            s.index = 0;
        } else if (s.type == TRACE_SEG_META) {
            s.index = metas++;
        }
        put(to, &s, sizeof s);
        err = copy_bytes(f, at + sizeof s, size - sizeof s, to);
        at += size;
    }
    return err;
}

/* Contents of a copy. */
struct contents {
    const struct trace_file *f;
    struct trace_header h;
    struct extent e;
    struct dropped dropped;
    struct strbuf behind; /* the segments that follow those of the trace */
};

/* 0 or -errno. */
static int write_contents(const struct contents *c, struct sink *to)
{
    struct trace_header h = c->h;
    int err;

    h.units = (uint32_t)((c->e.kept + c->behind.len) / TRACE_UNIT);
    put(to, &h, sizeof h);
    err = copy_segments(c->f, c->e, c->dropped, to);
    put(to, c->behind.buf, c->behind.len);
    return err;
}

/* Keeps a copy that replaces the original from being readable for more users than that was. If its
 * group cannot be set, the present group gets no rights. */
static void take_mode(const struct outfile *out, int original)
{
    struct stat st;

    if (out->aside && fstat(original, &st) == 0) {
        bool same = fchown(fileno(out->f), st.st_uid, st.st_gid) == 0;

        fchmod(fileno(out->f), st.st_mode & (same ? 0777 : 0700));
    }
}

/* 0 or -errno. */
static int write_alone(struct contents *c, bool replaces, const char *to)
{
    struct outfile out;
    struct sink sink = {.n = 0};
    int err = outfile_open(&out, to);

    if (err)
        return err;
    if (replaces)
        take_mode(&out, c->f->fd);
    sink.f = out.f;
    c->h.traces = 0;
    err = write_contents(c, &sink);
    if (!err)
        return outfile_commit(&out);
    outfile_abort(&out);
    return err;
}

/* 0 or -errno. */
static int write_into(struct contents *c, struct tracebundle *b)
{
    struct sink sink = {.f = b->out.f};
    int err;

    tracebundle_begin(b, &c->h);
    err = write_contents(c, &sink);
    return err ? err : tracebundle_end(b, sink.n);
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

/* Copies to the file `to`, or into the bundle. 0, or an enum flame_exit after a line, but
 * for a bundle that is too large. */
static int copy(const char *from, const char *to, struct tracebundle *b,
                const struct trace_fileset *of, const struct strbuf *names)
{
    struct contents c = {.behind = STRBUF_INIT};
    struct trace_file f;
    int err = trace_file_open(from, 0, &f), status = 0;

    c.f = &f;
    c.dropped = (struct dropped){.names = names != NULL, .record = of->files || f.is_part};
    if (!err && !trace_file_read(&f, 0, &c.h, sizeof c.h))
        err = -EIO;
    if (!err) {
        c.e = extent_of(&f, &c.h, c.dropped);
        status = gather_behind(from, &c.h, c.e, of, names, &c.behind);
    }
    if (!err && !status)
        err = b ? write_into(&c, b) : write_alone(&c, strcmp(from, to) == 0, to);
    if (f.fd >= 0)
        close(f.fd);
    strbuf_release(&c.behind);
    if (err && !(b && b->too_large))
        flame_cannot_write(to, err);
    return err ? FLAME_FAILED : status;
}

int tracecopy(const char *from, const char *to, const struct trace_fileset *of,
              const struct strbuf *names)
{
    return copy(from, to, NULL, of, names);
}

int tracecopy_into(const char *from, struct tracebundle *b, const struct trace_fileset *of,
                   const struct strbuf *names)
{
    return copy(from, b->path, b, of, names);
}
