/*
 * Loading a trace, and the questions asked of a loaded one.
 *
 * A recording may be running while we read. The writer publishes a node before
 * its children and before any row that counts for it, but read() goes from
 * front to back and takes its time, so a copy may hold a row and lack its node.
 * When that is seen in a regular file, the parts that only ever grow (nodes,
 * metadata) are read once more and put under the rows of the first copy: as
 * they are then younger than those rows, nothing can be missing. A copy that
 * somebody else made, or a pipe, cannot be read again; there the rows are left
 * out and counted (missing_rows).
 *
 * Rejected: mmap with MAP_PRIVATE. Pages not written to go on changing under a
 * check that has already been made.
 */
#include "common/trace_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/error.h"
#include "common/strbuf.h"
#include "common/trace_check.h"

bool trace_magic_matches(const void *data, size_t len)
{
    return len >= sizeof TRACE_MAGIC - 1 && memcmp(data, TRACE_MAGIC, sizeof TRACE_MAGIC - 1) == 0;
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
    free(t->args);
    free(t->exe);
    free(t->comm);
    free(t->path);
    free(priv->nodes);
    free(priv->rows);
    free(priv->threads);
    trace_modules_index_free(priv->modules);
    free(priv->data);
    free(priv);
    free(t);
}

/* Takes `data` over in any case. */
static int load_owned(const char *name, uint8_t *data, size_t len, bool quiet, struct trace **out)
{
    struct trace *t = xcalloc(1, sizeof *t);
    struct trace_private *priv = xcalloc(1, sizeof *priv);
    int err;

    *out = NULL;
    t->priv = priv;
    t->path = xstrdup(name);
    priv->data = data;
    priv->src = (struct trace_source){.name = t->path, .data = data, .len = len, .quiet = quiet};
    if ((err = trace_check_header(&priv->src, t)) || (err = trace_check_meta(&priv->src, t)) ||
        (err = trace_gather_segments(&priv->src, t)) || (err = trace_check_nodes(&priv->src, t)) ||
        (err = trace_check_rows(&priv->src, t))) {
        trace_free(t);
        return err;
    }
    *out = t;
    return 0;
}

int trace_load_bytes(const char *name, const void *data, size_t len, bool quiet, struct trace **out)
{
    return load_owned(name, (uint8_t *)xmemdup0(data, len), len, quiet, out);
}

/* Reads `fd` from where it stands; *data is the caller's also after an error. */
static int read_whole(int fd, size_t expected, uint8_t **data, size_t *len)
{
    size_t room = expected + 1;

    *len = 0;
    *data = malloc(room);
    if (!*data)
        return -ENOMEM;
    for (;;) {
        ssize_t n;

        if (*len == room) {
            uint8_t *more = room > SIZE_MAX / 2 ? NULL : realloc(*data, room * 2);

            if (!more)
                return -ENOMEM;
            *data = more;
            room *= 2;
        }
        n = read(fd, *data + *len, room - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return 0;
        *len += (size_t)n;
    }
}

/*
 * A younger copy of all that only grows, over the rows and threads of `old`; see
 * the top. NULL when it cannot be had.
 */
static uint8_t *renew(int fd, const struct trace_private *old, size_t *len)
{
    struct trace_segment seg;
    uint8_t *data;

    if (lseek(fd, 0, SEEK_SET) < 0)
        return NULL;
    if (read_whole(fd, old->src.len + 16 * TRACE_SEGMENT_SIZE, &data, len) < 0 ||
        *len < old->src.len) {
        free(data);
        return NULL;
    }
    memcpy(data, old->src.data, sizeof(struct trace_header));
    for (uint32_t i = 1; i < old->src.segments; i++)
        if (trace_segment_at(&old->src, i, &seg) &&
            (seg.type == TRACE_SEG_ROWS || seg.type == TRACE_SEG_THREADS))
            memcpy(data + (size_t)i * TRACE_SEGMENT_SIZE,
                   old->src.data + (size_t)i * TRACE_SEGMENT_SIZE, TRACE_SEGMENT_SIZE);
    return data;
}

static int load_fd(const char *name, int fd, struct trace **out)
{
    struct trace *younger;
    struct stat st;
    uint8_t *data;
    size_t len, expected = 1 << 20;
    bool regular;
    int err;

    if (fstat(fd, &st) < 0)
        return flame_error(FLAME_USAGE, "%s: %s", name, strerror(errno));
    if (S_ISDIR(st.st_mode))
        return flame_error(FLAME_USAGE, "%s: a directory; name a trace in it", name);
    regular = S_ISREG(st.st_mode);
    if (regular && (uint64_t)st.st_size < SIZE_MAX / 4)
        expected = (size_t)st.st_size;
    err = read_whole(fd, expected, &data, &len);
    if (err) {
        free(data);
        if (err == -ENOMEM)
            return flame_error(FLAME_FAILED,
                               "%s: out of memory reading %zu bytes; use a machine "
                               "with more",
                               name, expected);
        return flame_error(FLAME_USAGE, "%s: %s", name, strerror(-err));
    }
    err = load_owned(name, data, len, false, out);
    if (err || (*out)->missing_rows == 0 || !regular)
        return err;
    data = renew(fd, (*out)->priv, &len);
    if (data && load_owned(name, data, len, true, &younger) == 0) {
        trace_free(*out);
        *out = younger;
    }
    return 0;
}

int trace_load(const char *path, struct trace **out)
{
    int fd, err;

    *out = NULL;
    if (strcmp(path, "-") == 0)
        return load_fd("standard input", STDIN_FILENO, out);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return flame_error(FLAME_USAGE,
                           "%s: %s; name a file that 'flame mem' or libflamemem.so "
                           "has written",
                           path, strerror(errno));
    err = load_fd(path, fd, out);
    close(fd);
    return err;
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

struct trace_string trace_node_name(const struct trace *t, const struct trace_node *n)
{
    const struct trace_private *priv = t->priv;
    struct trace_string s = {"", 0};

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
