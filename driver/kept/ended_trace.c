/*
 * A frame is a return address, or FRAME_NODE and the number of a node with a name.
 */
#include "driver/kept/ended_trace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <time.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/error.h"
#include "common/files/plainfile.h"
#include "common/hash.h"
#include "common/proc_stat.h"
#include "common/procpath.h"
#include "preload/kept/heap_graph_file.h"
#include "driver/kept/trace_append.h"
#include "common/trace/trace_reader.h"
#include "driver/kept/graph_file.h"
#include "driver/kept/keptrows.h"
#include "driver/rundir/open_writers.h"
#include "fold/stacks/hashslots.h"

#define INNER_MOST 24u /* frames of a stack, among which the site must be */
#define FRAME_NODE ((uint64_t)1 << 63)

struct ended {
    const struct trace *t;
    struct trace_append to;
    uint32_t epoch, root;
    uint16_t thread;
    uint64_t inner[INNER_MOST];
    struct hashslots known; /* texts that have been added, by their places in to.texts */
};

static bool module_at(void *arg, uintptr_t addr, struct kept_module *m)
{
    const struct ended *e = arg;
    const struct trace_module_view *v = trace_module_at(e->t, addr, e->epoch);

    if (v)
        *m = (struct kept_module){v->path, v->m.build_id, v->m.build_id_size, v->m.layout,
                                  v->m.bias};
    return v;
}

static const uint64_t *inner(void *arg, uint32_t row, size_t *n)
{
    struct ended *e = arg;
    const struct trace *t = e->t;

    *n = 0;
    for (uint32_t id = row < t->row_limit ? t->rows[row].node : 0; id && *n < INNER_MOST;
         id = t->nodes[id].parent) {
        const struct trace_node *node = &t->nodes[id];

        if (node->kind == TRACE_NODE_PC && !(node->addr & FRAME_NODE))
            e->inner[(*n)++] = node->addr;
        else if (node->kind == TRACE_NODE_PC_EXACT && node->addr + 1 < FRAME_NODE)
            e->inner[(*n)++] = node->addr + 1;
        else if (node->kind == TRACE_NODE_NAME)
            e->inner[(*n)++] = FRAME_NODE | id;
    }
    return *n ? e->inner : NULL;
}

static const char *frame_text(void *arg, uint64_t frame, size_t *len)
{
    const struct ended *e = arg;
    struct trace_string s;

    if (!(frame & FRAME_NODE))
        return NULL;
    s = trace_node_name(e->t, &e->t->nodes[frame & ~FRAME_NODE]);
    *len = s.len;
    return s.s;
}

/* The place of a text, which is in the trace once. */
static uint64_t text_at(struct ended *e, const char *name, size_t len)
{
    const struct strbuf *texts = &e->to.texts;
    uint64_t begin = e->to.end + sizeof(struct trace_segment);
    uint32_t hash, at;

    len = len < TRACE_APPEND_TEXT_MOST ? len : TRACE_APPEND_TEXT_MOST;
    hash = (uint32_t)(fnv_bytes(FNV_BASIS, name, len) * HASH_GOLDEN >> 32);
    for (size_t i = hashslots_first(&e->known, hash); hashslots_at(&e->known, i, &at);
         i = hashslots_next(&e->known, i)) {
        struct trace_meta m;

        memcpy(&m, texts->buf + at, sizeof m);
        if (m.size == len && memcmp(texts->buf + at + sizeof m, name, len) == 0)
            return begin + at;
    }
    hashslots_add(&e->known, hash, (uint32_t)texts->len);
    return trace_append_text(&e->to, name, len);
}

static uint32_t keeper(void *arg, uint32_t below, const char *name, size_t len)
{
    struct ended *e = arg;

    return trace_append_node(&e->to, below ? below : e->root, TRACE_NODE_NAME,
                             text_at(e, name, len));
}

static uint32_t site(void *arg, uint32_t below, uint64_t frame)
{
    struct ended *e = arg;
    size_t len;
    const char *name = frame_text(arg, frame, &len);

    if (name)
        return keeper(arg, below, name, len);
    return trace_append_node(&e->to, below ? below : e->root, TRACE_NODE_PC, frame);
}

static void add_row(void *arg, uint32_t node, uint64_t bytes, uint64_t blocks)
{
    struct ended *e = arg;

    if (node)
        trace_append_row(&e->to, &(struct trace_row){.node = node,
                                                     .thread = e->thread,
                                                     .flags = TRACE_ROW_KEPT,
                                                     .alloc_bytes = bytes,
                                                     .alloc_calls = blocks});
}

/* ---- all of it ---- */

/* Blocks that are counted in the trace of the process that forked this one. */
static bool *inherited_blocks(const struct keptheap *h)
{
    bool *others = xcalloc((size_t)h->nblocks + 1, sizeof *others);

    for (uint32_t i = 0; i < h->nblocks; i++)
        others[i] = !h->blocks[i].row;
    return others;
}

static void find_root(struct ended *e)
{
    const struct trace *t = e->t;

    for (uint32_t id = 1; id < t->node_limit && !e->root; id++)
        if (t->nodes[id].kind == TRACE_NODE_ROOT) {
            e->root = id;
            e->epoch = (uint32_t)(t->nodes[id].addr >> 32);
            e->thread = (uint16_t)t->nodes[id].addr;
        }
}

static void release_graph(void *arg)
{
    graph_file_release(arg);
}

/* Releases `f`. 0 or -errno. */
static int add_keepers(const char *path, const struct trace *t, struct graph_file *f)
{
    struct keptheap *h = &f->heap;
    struct ended e = {.t = t};
    struct keptspace space = {&e, module_at, inner, frame_text, keeper, site, add_row};
    bool *others;
    int err;

    find_root(&e);
    if (!e.root)
        return -ENODATA;
    err = trace_append_begin(&e.to, path);
    if (err)
        return err;
    hashslots_init(&e.known, 256);
    h->others = others = inherited_blocks(h);
    h->used_up = release_graph;
    h->used_up_arg = f;
    keptrows_add(h, &space);
    err = trace_append_end(&e.to, TRACE_FEATURE_KEPT);
    hashslots_release(&e.known);
    free(others);
    return err;
}

static ssize_t read_fd(void *arg, void *to, size_t size)
{
    ssize_t n;

    do
        n = read(*(const int *)arg, to, size);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Whether the file is one that there is memory for: what it is read into takes some five times its
 * size, and a program may have put any file there. */
static bool fits(int fd)
{
    struct stat st;
    struct sysinfo info;

    return fstat(fd, &st) == 0 && sysinfo(&info) == 0 &&
           (uint64_t)st.st_size <= (uint64_t)info.totalram * info.mem_unit / 16;
}

static void add_from(const char *path, const char *graph, int fd)
{
    struct graph_file f;
    struct trace *t;
    int err;

    if (!fits(fd)) {
        flame_warn("%s: too large for this machine: who keeps the memory of that process is not "
                   "known",
                   graph);
        return;
    }
    if (trace_load_quietly(path, &t) != 0)
        return; /* whoever reads it next reports it */
    if (!graph_file_read(&f, t->row_limit, read_fd, &fd)) {
        flame_warn("%s: cut or damaged at byte %llu: who keeps the memory of that process is not "
                   "known",
                   graph, (unsigned long long)f.bad_at);
    } else {
        err = add_keepers(path, t, &f);
        if (err && err != -ENODATA)
            flame_warn("%s: who keeps the memory of that process cannot be stored: %s", path,
                       strerror(-err));
    }
    trace_free(t);
    graph_file_release(&f);
}

/* Whether the process that wrote the trace has ended. False where that is not known. A process that
 * it has forked may still have the file mapped, but does not write to it. */
static bool has_ended(const struct trace_header *h)
{
    char text[512];
    struct stat st;
    ssize_t n = -1;
    const char *state;
    int fd;

    if (h->pid_namespace &&
        (stat(proc_path(PROC_SELF, "ns/pid").s, &st) != 0 || st.st_ino != h->pid_namespace))
        return false;
    fd = open(proc_path((pid_t)h->pid, "stat").s, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == ENOENT;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    state = proc_stat_field(text, PROC_STAT_STATE);
    return n <= 0 || (state && (*state == 'Z' || *state == 'X'));
}

/* Whether nobody writes to the trace any more. */
static bool is_over(const char *path)
{
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    struct trace_header h;
    bool over = fd >= 0 && trace_read_header(fd, &h) &&
                ((writers_are_detectable(fd) && has_no_writers(fd)) || has_ended(&h));

    if (fd >= 0)
        close(fd);
    return over;
}

void ended_trace_keepers(const char *path)
{
    struct strbuf graph = STRBUF_INIT;
    int fd;

    strbuf_addf(&graph, "%s" HEAP_GRAPH_ENDING, path);
    fd = plainfile_open(graph.buf, O_RDONLY | O_NOFOLLOW);
    if (fd >= 0) {
        if (is_over(path)) {
            add_from(path, graph.buf, fd);
            unlink(graph.buf);
        }
        close(fd);
    }
    strbuf_release(&graph);
}

static bool ends_in(const char *name, const char *ending)
{
    size_t len = strlen(name), n = strlen(ending);

    return len > n && strcmp(name + len - n, ending) == 0;
}

/* Removes what a process has left that was ended while it wrote, or while its copy did, which ends
 * after it. Another recording may be writing to the same directory. */
static void remove_part(const char *path)
{
    static const struct timespec pause = {.tv_nsec = 10000000};
    int fd = plainfile_open(path, O_RDONLY | O_NOFOLLOW);
    bool left = false;

    for (int i = 0; i < 50 && fd >= 0 && writers_are_detectable(fd) && !left; i++) {
        left = has_no_writers(fd);
        if (!left)
            nanosleep(&pause, NULL);
    }
    if (left)
        unlink(path);
    if (fd >= 0)
        close(fd);
}

void ended_trace_keepers_in(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        struct strbuf path = STRBUF_INIT;

        strbuf_addf(&path, "%s/%s", dir, e->d_name);
        if (ends_in(e->d_name, ".flame" HEAP_GRAPH_ENDING)) {
            strbuf_setlen(&path, path.len - (sizeof HEAP_GRAPH_ENDING - 1));
            ended_trace_keepers(path.buf);
        } else if (ends_in(e->d_name, ".flame" HEAP_GRAPH_ENDING HEAP_GRAPH_PART)) {
            remove_part(path.buf);
        }
        strbuf_release(&path);
    }
    if (d)
        closedir(d);
}
