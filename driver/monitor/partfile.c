/*
 * A copy of a trace that is being written must not have a row whose node it lacks. So rows are read
 * first, and all parts that only grow after them. Rows of segments that are new in between come in
 * the next part.
 *
 * The counts of a row that was read while it was written to are at most one event short. That event
 * is in the next part: no part is a difference (trace_parts.h).
 *
 * The descriptor remains open, so the last part can be written when the trace has been removed.
 */
#include "driver/monitor/partfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/basename.h"
#include "common/clock.h"
#include "common/error.h"
#include "common/files/plainfile.h"
#include "common/files/outfile.h"
#include "common/strbuf.h"
#include "common/trace/trace_parts.h"
#include "common/trace/trace_reader.h"

#define ENDING ".flame"
#define NUMBER ".part%04" PRIu32 ENDING

struct partfile {
    char *path; /* of the trace */
    int fd;
    struct trace_header of;
    char *stem; /* of the parts' names */
    uint64_t limit, begin_ns;
    uint32_t next;  /* number */
    uint32_t units; /* size of the trace at the last part's end */
    struct trace_counted before;
    struct written {
        uint32_t number;
        uint64_t bytes;
    } * parts; /* the existing parts, the oldest first */
    size_t nparts, room;
    uint64_t written, removed;
    struct strbuf last;
    int error;
    bool gone;
};

static void name_of(const struct partfile *p, uint32_t number, struct strbuf *out)
{
    strbuf_clear(out);
    strbuf_addf(out, "%s" NUMBER, p->stem, number);
}

/* ---- copy of the trace ---- */

/* Reads the used part of the trace; NULL: its file is now another process's, or was removed. */
static uint8_t *read_trace(const struct partfile *p, size_t *len)
{
    struct trace_header h;
    uint8_t *data;
    size_t at = 0;

    if (!trace_read_header(p->fd, &h) || h.pid != p->of.pid ||
        h.start_monotonic_ns != p->of.start_monotonic_ns || h.unit != TRACE_UNIT)
        return NULL;
    *len = (size_t)h.units * TRACE_UNIT;
    data = *len >= sizeof h ? calloc(1, *len) : NULL;
    while (data && at < *len) {
        ssize_t n = pread(p->fd, data + at, *len - at, (off_t)at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        at += (size_t)n;
    }
    if (data && at < *len) {
        free(data);
        return NULL;
    }
    return data;
}

/* The segment at `at` in the bytes; false: none begins there. */
static bool segment_at(const uint8_t *data, size_t len, size_t at, struct trace_segment *s)
{
    if (len < sizeof *s || at > len - sizeof *s)
        return false;
    memcpy(s, data + at, sizeof *s);
    return s->magic == TRACE_SEGMENT_MAGIC && s->units && s->units <= (len - at) / TRACE_UNIT;
}

/* Puts the rows of the older copy in place of those of the younger one. Returns the end of the
 * segments; *metas is the number of those with metadata. */
static size_t take_rows(uint8_t *young, size_t len, const uint8_t *old, size_t old_len,
                        uint32_t *metas)
{
    size_t at = sizeof(struct trace_header);
    struct trace_segment s, o;

    *metas = 0;
    for (; segment_at(young, len, at, &s); at += (size_t)s.units * TRACE_UNIT) {
        size_t records = (size_t)s.units * TRACE_UNIT - sizeof s;

        *metas += s.type == TRACE_SEG_META;
        if (s.type != TRACE_SEG_ROWS)
            continue;
        if (segment_at(old, old_len, at, &o) && o.type == TRACE_SEG_ROWS && o.units == s.units)
            memcpy(young + at + sizeof s, old + at + sizeof s, records);
        else
            memset(young + at + sizeof s, 0, records);
    }
    return at;
}

/* Copies the trace in its present state; the peak in the header is that of its rows. False: it
 * cannot be read. */
static bool copy_trace(const struct partfile *p, struct strbuf *out, uint32_t *metas)
{
    size_t old_len = 0, len = 0, end;
    uint8_t *old = read_trace(p, &old_len), *young = old ? read_trace(p, &len) : NULL;

    if (young) {
        memcpy(young, old, sizeof(struct trace_header));
        end = take_rows(young, len, old, old_len, metas);
        strbuf_add(out, young, end);
    }
    free(old);
    free(young);
    return out->len != 0;
}

static void put_units(struct strbuf *part)
{
    struct trace_header h;

    memcpy(&h, part->buf, sizeof h);
    h.units = (uint32_t)(part->len / TRACE_UNIT);
    memcpy(part->buf, &h, sizeof h);
}

/* Appends the segment with the counts before this part. */
static void put_record(struct strbuf *part, const struct trace_part_facts *facts,
                       const struct trace_counted *before, uint32_t metas)
{
    static const char zeros[TRACE_UNIT];
    struct strbuf record = STRBUF_INIT;
    struct trace_meta meta = {.type = TRACE_META_PART};
    struct trace_segment s = {.magic = TRACE_SEGMENT_MAGIC, .type = TRACE_SEG_META, .index = metas};
    size_t size;

    trace_part_encode(&record, facts, before);
    meta.size = (uint32_t)record.len;
    size = sizeof s + sizeof meta + record.len;
    s.units = (uint32_t)((size + TRACE_UNIT - 1) / TRACE_UNIT);
    strbuf_add(part, &s, sizeof s);
    strbuf_add(part, &meta, sizeof meta);
    strbuf_add(part, record.buf, record.len);
    strbuf_add(part, zeros, (size_t)s.units * TRACE_UNIT - size);
    strbuf_release(&record);
}

/* ---- files ---- */

/* Removes the oldest parts, but never the last. */
static void keep_to_limit(struct partfile *p)
{
    struct strbuf name = STRBUF_INIT;
    uint64_t bytes = 0;
    size_t gone = 0;

    for (size_t i = 0; i < p->nparts; i++)
        bytes += p->parts[i].bytes;
    while (p->limit && bytes > p->limit && gone + 1 < p->nparts) {
        name_of(p, p->parts[gone].number, &name);
        if (unlink(name.buf) == 0) {
            flame_warn("watch: %s: removed, as the parts take more than %" PRIu64
                       " bytes (--max-disk)",
                       name.buf, p->limit);
            p->removed++;
        } else if (errno != ENOENT) {
            flame_warn("watch: %s: cannot be removed: %s; the parts take more than --max-disk says",
                       name.buf, strerror(errno));
        }
        bytes -= p->parts[gone++].bytes;
    }
    p->nparts -= gone;
    memmove(p->parts, p->parts + gone, p->nparts * sizeof *p->parts);
    strbuf_release(&name);
}

static int write_file(const char *path, const struct strbuf *bytes)
{
    struct outfile out;
    int err = outfile_open(&out, path);

    if (err)
        return err;
    fchmod(fileno(out.f), 0600); /* the mode of traces, because parts show what a program does */
    fwrite(bytes->buf, 1, bytes->len, out.f);
    return outfile_commit(&out);
}

static void note_file(struct partfile *p, uint32_t number, uint64_t bytes)
{
    GROW(p->parts, p->nparts, p->room);
    p->parts[p->nparts++] = (struct written){number, bytes};
}

static void say_failed(struct partfile *p, const char *name, int err)
{
    if (p->error != -err)
        flame_warn("watch: %s: cannot write: %s; the program runs on, and the next part that can "
                   "be written holds this one's contents too",
                   name, strerror(-err));
    p->error = -err;
}

void partfile_seam(struct partfile *p)
{
    struct trace_part_facts facts = {.begin_ns = p->begin_ns, .number = p->next};
    struct strbuf part = STRBUF_INIT, name = STRBUF_INIT;
    struct trace *t = NULL;
    uint32_t metas = 0, units;
    int err = 0;

    facts.end_ns = clock_ns(CLOCK_MONOTONIC);
    if (!copy_trace(p, &part, &metas)) {
        if (!p->gone)
            flame_warn("watch: %s: cannot be read any more; what came after part %" PRIu32
                       " is in no part",
                       p->path, p->next - 1);
        p->gone = true;
        p->error = ENOENT;
    } else {
        units = (uint32_t)(part.len / TRACE_UNIT);
        put_units(&part);
        name_of(p, p->next, &name);
        if (trace_load_bytes(name.buf, part.buf, part.len, true, &t))
            err = -EILSEQ;
        if (!err) {
            put_record(&part, &facts, &p->before, metas);
            put_units(&part);
            err = write_file(name.buf, &part);
        }
        if (err) {
            say_failed(p, name.buf, err);
        } else {
            trace_counted_take(&p->before, t);
            p->begin_ns = facts.end_ns;
            p->units = units;
            p->error = 0;
            p->written++;
            note_file(p, p->next++, part.len);
            strbuf_clear(&p->last);
            strbuf_addstr(&p->last, name.buf);
            keep_to_limit(p);
        }
    }
    trace_free(t);
    strbuf_release(&part);
    strbuf_release(&name);
}

/* ---- existing parts ---- */

static int by_number(const void *a, const void *b)
{
    const struct written *x = a, *y = b;

    return (x->number > y->number) - (x->number < y->number);
}

/* Whether the name is a part that is not complete (outfile.h), as a killed flame leaves it. */
static bool is_half(const char *behind_number)
{
    return strncmp(behind_number, ENDING ".tmp", strlen(ENDING ".tmp")) == 0 &&
           strlen(behind_number) == strlen(ENDING ".tmpXXXXXX");
}

/* Lists the parts of that stem, and removes incomplete parts. 0 or -errno. */
static int find_parts(struct partfile *p)
{
    const char *base = base_name(p->stem);
    size_t len = strlen(base);
    struct strbuf dir = STRBUF_INIT, name = STRBUF_INIT;
    struct dirent *e;
    DIR *d;

    strbuf_add(&dir, p->stem, (size_t)(base - p->stem));
    d = opendir(dir.len ? dir.buf : ".");
    strbuf_release(&dir);
    if (!d)
        return -errno;
    while ((e = readdir(d))) {
        unsigned long number;
        struct stat st;
        char *end;

        if (strncmp(e->d_name, base, len) != 0 || strncmp(e->d_name + len, ".part", 5) != 0)
            continue;
        number = strtoul(e->d_name + len + 5, &end, 10);
        if (!number || number >= UINT32_MAX ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        /* Only one spelling of the number counts. */
        strbuf_clear(&name);
        strbuf_addf(&name, "%s" NUMBER, base, (uint32_t)number);
        if (strncmp(e->d_name, name.buf, name.len) != 0)
            continue;
        if (strcmp(end, ENDING) == 0)
            note_file(p, (uint32_t)number, (uint64_t)st.st_size);
        else if (is_half(end))
            unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
    strbuf_release(&name);
    if (p->nparts)
        qsort(p->parts, p->nparts, sizeof *p->parts, by_number);
    return 0;
}

/* Continues after the last part, with whose counts the next part begins. */
static int go_on(struct partfile *p)
{
    struct strbuf name = STRBUF_INIT;
    struct trace_part_facts facts;
    struct trace *t = NULL;
    int status;

    name_of(p, p->parts[p->nparts - 1].number, &name);
    status = trace_load(name.buf, &t);
    if (!status && (trace_part_of(t, &facts, NULL) != 1 || t->header.pid != p->of.pid ||
                    t->header.start_monotonic_ns != p->of.start_monotonic_ns ||
                    t->header.start_realtime_ns != p->of.start_realtime_ns))
        status = flame_error(FLAME_USAGE,
                             "watch: %s: is of another recording; move it away, or give -o "
                             "another name",
                             name.buf);
    if (!status) {
        trace_counted_take(&p->before, t);
        p->begin_ns = facts.end_ns;
        p->next = p->parts[p->nparts - 1].number + 1;
        strbuf_addstr(&p->last, name.buf);
    }
    trace_free(t);
    strbuf_release(&name);
    return status;
}

int partfile_new(const char *path, const struct trace_header *h, const char *output, uint64_t limit,
                 struct partfile **out)
{
    struct partfile *p = xcalloc(1, sizeof *p);
    size_t len = strlen(output), ending = strlen(ENDING);
    int status = 0, err;

    *p = (struct partfile){.of = *h,
                           .limit = limit,
                           .begin_ns = h->start_monotonic_ns,
                           .next = 1,
                           .last = STRBUF_INIT};
    p->path = xstrdup(path);
    p->stem = xstrdup(output);
    if (len > ending && strcmp(output + len - ending, ENDING) == 0)
        p->stem[len - ending] = '\0';
    p->fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    if (p->fd < 0)
        status = flame_cannot_read(path, p->fd);
    else if (flock(p->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        status =
            flame_error(FLAME_USAGE, "watch: %s: another process writes parts of it already", path);
    else if ((err = find_parts(p)))
        status = flame_cannot_write(output, err);
    else if (p->nparts)
        status = go_on(p);
    if (status) {
        partfile_free(p);
        p = NULL;
    }
    *out = p;
    return status;
}

void partfile_free(struct partfile *p)
{
    if (!p)
        return;
    if (p->fd >= 0)
        close(p->fd);
    trace_counted_release(&p->before);
    strbuf_release(&p->last);
    free(p->parts);
    free(p->path);
    free(p->stem);
    free(p);
}

uint64_t partfile_grown(const struct partfile *p)
{
    struct trace_header h;

    return trace_read_header(p->fd, &h) && h.units > p->units
               ? (uint64_t)(h.units - p->units) * TRACE_UNIT
               : 0;
}

uint64_t partfile_written(const struct partfile *p)
{
    return p->written;
}

uint64_t partfile_removed(const struct partfile *p)
{
    return p->removed;
}

const char *partfile_last(const struct partfile *p)
{
    return p->last.buf;
}

int partfile_error(const struct partfile *p)
{
    return p->error;
}
