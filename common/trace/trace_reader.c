/*
 * Loading a trace, and queries of a loaded one.
 *
 * A recording may be running during the load. The writer publishes a node before its children and
 * before any row that counts for it. But read() goes from front to back and takes its time, so a
 * copy may hold a row and lack its node. If a regular file shows that, the parts that only ever
 * grow (nodes, metadata) are read once more and combined with the rows of the first copy: as they
 * are then younger than those rows, nothing can be missing. A copied file or a pipe cannot be read
 * again; there the rows are dropped and counted (missing_rows).
 *
 * Rejected: mmap with MAP_PRIVATE, because unwritten pages still change after they were checked.
 */
#include "common/trace/trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/alloc.h"
#include "common/basename.h"
#include "common/files/plainfile.h"
#include "common/files/trace_file.h"
#include "common/trace/trace_reader_impl.h"
#include "common/trace/mark_growth.h"

/* Bytes read in one go: a hole behind the wanted bytes costs as much as data does. */
#define AT_ONCE ((size_t)512 << 10)

bool trace_magic_matches(const void *data, size_t len)
{
    return len >= sizeof TRACE_MAGIC - 1 && memcmp(data, TRACE_MAGIC, sizeof TRACE_MAGIC - 1) == 0;
}

bool trace_read_header(int fd, struct trace_header *h)
{
    return trace_file_header(&(struct trace_file){.fd = fd, .size = UINT64_MAX}, h);
}

void trace_free_marks(struct trace *t)
{
    for (size_t i = 0; i < t->nmarks; i++) {
        free(t->marks[i].name);
        free(t->marks[i].entries);
    }
    free(t->marks);
    t->marks = NULL;
    t->nmarks = t->mark_room = 0;
}

void trace_clip_free(struct trace_clip *clip, uint32_t threads)
{
    for (uint32_t i = 0; clip && i < threads; i++)
        free(clip[i].part);
    free(clip);
}

void trace_free(struct trace *t)
{
    struct trace_private *priv;

    if (!t)
        return;
    priv = t->priv;
    for (size_t i = 0; i < t->nmodules; i++)
        free(t->modules[i].path);
    free(t->modules);
    for (size_t i = 0; i < t->norigins; i++)
        free(t->origins[i].path);
    free(t->origins);
    free(t->inherited);
    free(t->titles);
    for (size_t i = 0; i < t->nregions; i++)
        free(t->regions[i]);
    free(t->regions);
    trace_free_marks(t);
    free(t->moments);
    free(t->intervals);
    free(t->lives);
    free(t->region_times);
    trace_clip_free(t->clip, t->thread_limit);
    trace_gaps_free(t->gaps);
    trace_timeline_free(t->timeline);
    namepack_free(t->names);
    free(t->misuses);
    free(t->args);
    free(t->exe);
    free(t->comm);
    free(t->ancestors);
    free(t->path);
    free(priv->nodes);
    free(priv->rows);
    free(priv->threads);
    trace_modules_index_free(priv->modules);
    free(priv->src.parts);
    free(priv->data);
    for (size_t i = 0; i < priv->texts.n; i++)
        free((char *)priv->texts.list[i].s);
    free(priv->texts.list);
    free(priv->texts.slots);
    trace_free(priv->beside);
    free(priv);
    free(t);
}

/* How an error about a trace is reported. */
struct saying {
    bool quiet;
    struct strbuf *why; /* receives the messages; NULL: they are printed */
};

static const struct saying quietly = {.quiet = true}, aloud = {.quiet = false};

/* Takes ownership of `data` in any case. */
static int load_owned(const char *name, uint8_t *data, size_t len, const struct saying *saying,
                      struct trace **out)
{
    struct trace *t = xcalloc(1, sizeof *t);
    struct trace_private *priv = xcalloc(1, sizeof *priv);
    int err;

    *out = NULL;
    t->priv = priv;
    t->path = xstrdup(name);
    priv->data = data;
    priv->src = (struct trace_source){
        .name = t->path, .data = data, .len = len, .quiet = saying->quiet, .why = saying->why};
    err = trace_check_header(&priv->src, t);
    if (!err && t->header.traces > 1) /* other traces follow */
        priv->src.len = (size_t)t->header.units * TRACE_UNIT;
    if (err || (err = trace_find_segments(&priv->src, t)) ||
        (err = trace_check_meta(&priv->src, t)) || (err = trace_gather_segments(&priv->src, t)) ||
        (err = trace_check_nodes(&priv->src, t)) || (err = trace_check_rows(&priv->src, t))) {
        trace_free(t);
        return err;
    }
    priv->rows_read = t->row_limit;
    if (t->nmarks)
        trace_growth(t);
    *out = t;
    return 0;
}

int trace_load_bytes(const char *name, const void *data, size_t len, bool quiet, struct trace **out)
{
    return load_owned(name, (uint8_t *)xmemdup0(data, len), len, quiet ? &quietly : &aloud, out);
}

/*
 * Whether `len` bytes of the file `fd` are all bytes in use by now. Behind them is a hole into
 * which the writer grows.
 */
static bool is_all(int fd, const uint8_t *data, size_t len)
{
    struct trace_header h;

    if (!trace_magic_matches(data, len) || pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h ||
        h.byte_order != TRACE_BYTE_ORDER || h.unit != TRACE_UNIT)
        return false;
    return len / TRACE_UNIT >= h.units;
}

/* Bytes of a regular file that are in use, by its header; size + 1: not known. It avoids that the
 * kernel reads ahead the hole behind them. */
static size_t bytes_in_use(int fd, size_t size)
{
    struct trace_header h;

    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || !trace_magic_matches(&h, sizeof h) ||
        h.unit != TRACE_UNIT || h.units > size / TRACE_UNIT || h.units == 0)
        return size + 1;
    posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
    return (size_t)h.units * TRACE_UNIT;
}

/*
 * Reads `fd` from its offset, with room for `room` bytes (at least 1) at first; *data is the
 * caller's, also after an error. Not grown by GROW: a file that is larger than memory is an error
 * that names the file, and the watcher of a growing trace can continue without it.
 */
static int read_whole(int fd, size_t room, uint8_t **data, size_t *len)
{
    *len = 0;
    *data = malloc(room);
    if (!*data)
        return -ENOMEM;
    for (;;) {
        ssize_t n;

        if (*len && is_all(fd, *data, *len))
            return 0;
        if (*len == room) {
            uint8_t *more = room > SIZE_MAX / 2 ? NULL : realloc(*data, room * 2);

            if (!more)
                return -ENOMEM;
            *data = more;
            room *= 2;
        }
        n = read(fd, *data + *len, room - *len < AT_ONCE ? room - *len : AT_ONCE);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        *len += (size_t)n;
    }
}

/* Makes a younger copy of all parts that only grow, with the rows and threads of `old`; see the top
 * of this file. NULL when that is not possible. */
static uint8_t *renew(int fd, const struct trace_private *old, size_t *len)
{
    uint8_t *data;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return NULL;
    if (read_whole(fd, old->src.len + 16 * TRACE_SEGMENT_SIZE + 1, &data, len) < 0 ||
        *len < old->src.len) {
        free(data);
        return NULL;
    }
    memcpy(data, old->src.data, sizeof(struct trace_header));
    for (size_t i = 0; i < old->src.nparts; i++) {
        const struct trace_part *p = &old->src.parts[i];

        if (p->type == TRACE_SEG_ROWS || p->type == TRACE_SEG_THREADS)
            memcpy(data + p->at, old->src.data + p->at, p->size);
    }
    return data;
}

static int cannot_read(const char *name, size_t expected, int err, const struct saying *saying)
{
    if (saying->quiet)
        return FLAME_USAGE;
    if (err == -ENOMEM)
        return flame_error(FLAME_FAILED,
                           "%s: out of memory reading %zu bytes; use a machine with more", name,
                           expected);
    if (!saying->why && err == TRACE_FILE_DAMAGED)
        return flame_error(FLAME_USAGE, "%s: %s; copy it again", name, trace_file_why(err));
    if (!saying->why)
        return trace_file_cannot_read(name, err);
    strbuf_addstr(saying->why, trace_file_why(err));
    return FLAME_USAGE;
}

static bool is_trace(int fd)
{
    char magic[sizeof TRACE_MAGIC - 1];

    return pread(fd, magic, sizeof magic, 0) == (ssize_t)sizeof magic &&
           trace_magic_matches(magic, sizeof magic);
}

/* Refuses a file that is no trace by its first bytes, as it may be long. */
static int refuse_other(const char *name, int fd, const struct saying *saying, struct trace **out)
{
    char first[sizeof TRACE_MAGIC - 1];
    ssize_t n = pread(fd, first, sizeof first, 0);

    if (n < 0)
        return cannot_read(name, 0, -errno, saying);
    return load_owned(name, (uint8_t *)xmemdup0(first, (size_t)n), (size_t)n, saying, out);
}

static int refuse_hollow(const char *name, const struct stat *st, size_t used,
                         const struct saying *saying)
{
    struct trace_source src = {.name = name, .quiet = saying->quiet, .why = saying->why};

    return trace_refuse(&src, "%zu bytes are said to be in use, and %" PRIu64 " are on the disk",
                        used, (uint64_t)st->st_blocks * 512);
}

static int load_fd(const char *name, int fd, const struct saying *saying, struct trace **out)
{
    struct trace *younger;
    struct stat st;
    uint8_t *data;
    size_t len, expected = 1 << 20;
    bool regular;
    int err;

    if (fstat(fd, &st) < 0)
        return cannot_read(name, 0, -errno, saying);
    if (S_ISDIR(st.st_mode))
        return cannot_read(name, 0, -EISDIR, saying);
    regular = S_ISREG(st.st_mode);
    if (regular && !is_trace(fd))
        return refuse_other(name, fd, saying, out);
    if (regular && (uint64_t)st.st_size < SIZE_MAX / 4)
        expected = bytes_in_use(fd, (size_t)st.st_size);
    if (regular && trace_file_is_hollow(&st, expected))
        return refuse_hollow(name, &st, expected, saying);
    err = read_whole(fd, expected, &data, &len);
    if (err) {
        free(data);
        return cannot_read(name, expected, err, saying);
    }
    err = load_owned(name, data, len, saying, out);
    if (err || (*out)->missing_rows == 0 || !regular)
        return err;
    data = renew(fd, (*out)->priv, &len);
    if (data && load_owned(name, data, len, &quietly, &younger) == 0) {
        trace_free(*out);
        *out = younger;
    }
    return 0;
}

/* One of several traces in a file, which is complete and does not change. */
static int load_part(const char *name, const struct trace_file *f, const struct saying *saying,
                     struct trace **out)
{
    uint8_t *data = f->size < SIZE_MAX / 2 ? malloc((size_t)f->size + 1) : NULL;

    if (!data)
        return cannot_read(name, (size_t)f->size, -ENOMEM, saying);
    if (trace_file_read(f, 0, data, (size_t)f->size))
        return load_owned(name, data, (size_t)f->size, saying, out);
    free(data);
    return cannot_read(name, (size_t)f->size, -EIO, saying);
}

static int load_plain(const char *path, int flags, const struct saying *saying, struct trace **out)
{
    struct trace_file f;
    int err = trace_file_open(path, flags, &f);

    *out = NULL;
    if (err)
        return cannot_read(path, 0, err, saying);
    err = f.is_part ? load_part(path, &f, saying, out) : load_fd(path, f.fd, saying, out);
    close(f.fd);
    return err;
}

int trace_load_plain(const char *path, struct trace **out)
{
    return load_plain(path, 0, &aloud, out);
}

int trace_load_quietly(const char *path, struct trace **out)
{
    return load_plain(path, 0, &quietly, out);
}

int trace_load_or_why(const char *path, struct strbuf *why, struct trace **out)
{
    return load_plain(path, O_NOFOLLOW, &(struct saying){.why = why}, out);
}

int trace_load_linked_or_why(const char *path, struct strbuf *why, struct trace **out)
{
    return load_plain(path, 0, &(struct saying){.why = why}, out);
}

int trace_load(const char *path, struct trace **out)
{
    int fd, err;

    *out = NULL;
    if (strcmp(path, "-") == 0)
        return load_fd("standard input", STDIN_FILENO, &aloud, out);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOTDIR)
        return load_plain(path, 0, &aloud, out);
    if (fd < 0)
        return flame_cannot_read(path, -errno);
    err = load_fd(path, fd, &aloud, out);
    close(fd);
    return err;
}

/* Whether both magics are missing. The header's is written after the rest of the header, and that
 * of the first segment after that. */
bool trace_has_not_begun(const char *path)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    struct trace_segment first = {.magic = 0};
    char magic[sizeof((struct trace_header *)0)->magic] = "";
    bool none;

    if (fd < 0)
        return false;
    none = pread(fd, magic, sizeof magic, 0) >= 0 &&
           pread(fd, &first, sizeof first, sizeof(struct trace_header)) >= 0 && !first.magic;
    for (size_t i = 0; i < sizeof magic; i++)
        none = none && !magic[i];
    close(fd);
    return none;
}

const char *trace_program(const struct trace *t)
{
    const char *name = *t->comm ? t->comm : base_name(t->exe);

    return *name ? name : "unknown";
}

const struct trace_thread *trace_thread_at(const struct trace *t, uint32_t id)
{
    return id < t->thread_limit && t->threads[id].tid != 0 ? &t->threads[id] : NULL;
}

const struct trace_off_thread *trace_off_thread_at(const struct trace *t, uint32_t id)
{
    if (t->header.recorder != TRACE_RECORDER_OFF)
        return NULL;
    return (const struct trace_off_thread *)trace_thread_at(t, id);
}

uint32_t trace_root_pid(const struct trace *t, const struct trace_node *root)
{
    const struct trace_off_thread *th = trace_off_thread_at(t, (uint32_t)root->addr);

    return th ? th->pid : t->header.pid;
}

struct trace_string trace_title_of(const struct trace *t, uint32_t pid)
{
    size_t lo = 0, hi = t->ntitles;

    if (t->header.recorder == TRACE_RECORDER_MEM && pid == t->header.pid)
        return (struct trace_string){t->header.title,
                                     strnlen(t->header.title, sizeof t->header.title)};
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (t->titles[mid].pid == pid)
            return t->titles[mid].text;
        if (t->titles[mid].pid < pid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (struct trace_string){"", 0};
}

struct trace_string trace_node_name(const struct trace *t, const struct trace_node *n)
{
    const struct trace_private *priv = t->priv;
    struct trace_string s = {"", 0};

    if (n->addr & TRACE_TEXT_ADDED)
        return priv->texts.list[n->addr & ~TRACE_TEXT_ADDED];
    trace_string_at(&priv->src, n->addr, &s);
    return s;
}

const struct trace_node *trace_node_root(const struct trace *t, uint32_t node)
{
    const struct trace_node *n = &t->nodes[node];

    while (n->kind != TRACE_NODE_ROOT)
        n = &t->nodes[n->parent];
    return n;
}

void trace_row_peak(const struct trace *t, const struct trace_row *r, int64_t *bytes,
                    int64_t *calls)
{
    if (r->peak_epoch == t->header.peak_epoch && !t->peak_is_end) {
        *bytes = (int64_t)r->peak_bytes;
        *calls = (int32_t)r->peak_calls;
    } else {
        *bytes = (int64_t)(r->alloc_bytes - r->free_bytes);
        *calls = (int64_t)(r->alloc_calls - r->free_calls);
    }
}
