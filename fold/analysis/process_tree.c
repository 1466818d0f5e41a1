/*
 * Processes are found by namespace and id through a hash table. Few processes share an id, so a
 * search visits all entries of that id.
 */
#include "fold/analysis/process_tree.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/alloc.h"
#include "common/folded.h"
#include "common/strbuf.h"
#include "common/files/trace_file.h"
#include "common/trace/trace_merge.h"
#include "common/trace/trace_reader.h"
#include "fold/stacks/hashslots.h"

/* One program that ran in a process. */
struct process {
    uint64_t pid_namespace, start_ns;
    uint32_t pid, ppid;
    uint64_t fork_start_ns; /* as in trace_header */
    uint32_t fork_pid;
    bool forked;
    char *name; /* a frame; NULL: not yet looked up */
    char *path; /* the trace's file, to read the name from; NULL where `name` is set, or cannot
                   be read */
};

struct process_tree {
    bool pids;
    char *several; /* the last file of several traces, all of which were added; NULL: none */
    struct process *processes;
    size_t n, alloc;
    struct hashslots by_pid;
};

struct process_tree *process_tree_new(bool pids)
{
    struct process_tree *p = xcalloc(1, sizeof *p);

    p->pids = pids;
    hashslots_init(&p->by_pid, 256);
    return p;
}

void process_tree_free(struct process_tree *p)
{
    if (!p)
        return;
    for (size_t i = 0; i < p->n; i++) {
        free(p->processes[i].name);
        free(p->processes[i].path);
    }
    free(p->processes);
    free(p->several);
    hashslots_release(&p->by_pid);
    free(p);
}

/* ---- finding ---- */

static uint32_t hash_pid(uint32_t pid)
{
    return (uint32_t)((pid * HASH_GOLDEN) >> 32);
}

/*
 * The last of the programs that ran in processes with this id and began before `ns`; with
 * `forked` only one that a fork made. As every ancestor begins before its descendant, no circle
 * of ancestors can arise, whatever a header may say.
 */
static struct process *last_before(struct process_tree *p, uint64_t pid_namespace, uint32_t pid,
                                   uint64_t ns, bool forked)
{
    const struct hashslots *h = &p->by_pid;
    struct process *last = NULL;
    uint32_t id;

    for (size_t i = hashslots_first(h, hash_pid(pid)); hashslots_at(h, i, &id);
         i = hashslots_next(h, i)) {
        struct process *of = &p->processes[id];

        if (of->pid == pid && of->pid_namespace == pid_namespace && of->start_ns < ns &&
            (of->forked || !forked) && (!last || of->start_ns > last->start_ns))
            last = of;
    }
    return last;
}

/* The program that began at that moment, in any namespace: two processes with one id do not
 * begin at one moment. */
static struct process *find(struct process_tree *p, uint32_t pid, uint64_t start_ns)
{
    const struct hashslots *h = &p->by_pid;
    uint32_t id;

    for (size_t i = hashslots_first(h, hash_pid(pid)); hashslots_at(h, i, &id);
         i = hashslots_next(h, i)) {
        struct process *of = &p->processes[id];

        if (of->pid == pid && of->start_ns == start_ns)
            return of;
    }
    return NULL;
}

/* The program that forked `of`, by the header, or in older traces by the parent's id. */
static struct process *forker_of(struct process_tree *p, const struct process *of)
{
    if (!of->fork_pid)
        return last_before(p, of->pid_namespace, of->ppid, of->start_ns, false);
    return of->fork_start_ns < of->start_ns ? find(p, of->fork_pid, of->fork_start_ns) : NULL;
}

/*
 * The program whose process made the one `of` runs in. If `of` was executed in a process that a
 * fork had made, that is the program that ran in the parent at the fork: the parent may have
 * executed another program, or ended, since.
 */
static struct process *parent_of(struct process_tree *p, const struct process *of)
{
    struct process *parent;
    const struct process *made;

    if (of->forked)
        return forker_of(p, of);
    parent = last_before(p, of->pid_namespace, of->ppid, of->start_ns, false);
    made = last_before(p, of->pid_namespace, of->pid, of->start_ns, true);
    return made && (!parent || made->ppid == of->ppid) ? forker_of(p, made) : parent;
}

/* ---- adding ---- */

static struct process *add(struct process_tree *p, const struct trace_header *h)
{
    struct process *of = find(p, h->pid, h->start_monotonic_ns);

    if (of)
        return of;
    hashslots_add(&p->by_pid, hash_pid(h->pid), (uint32_t)p->n);
    GROW(p->processes, p->n, p->alloc);
    of = &p->processes[p->n++];
    *of = (struct process){.pid_namespace = h->pid_namespace,
                           .start_ns = h->start_monotonic_ns,
                           .pid = h->pid,
                           .ppid = h->ppid,
                           .fork_start_ns = h->fork_start_ns,
                           .fork_pid = h->fork_pid,
                           .forked = (h->features & TRACE_FEATURE_FORKED) != 0};
    return of;
}

static void add_name(const struct process *of, bool pids, const char *program, struct strbuf *sb)
{
    struct strbuf name = STRBUF_INIT;

    strbuf_addstr(&name, program);
    if (pids)
        strbuf_addf(&name, "-%" PRIu32, of->pid);
    if (of->forked)
        strbuf_addstr(&name, TRACE_FORK_MARK);
    folded_add_frame(sb, name.buf, name.len);
    strbuf_release(&name);
}

static void give_name(const struct process_tree *p, struct process *of, const char *program)
{
    struct strbuf sb = STRBUF_INIT;

    free(of->path);
    of->path = NULL;
    if (of->name)
        return;
    add_name(of, p->pids, program, &sb);
    of->name = strbuf_detach(&sb, NULL);
}

void process_tree_add(struct process_tree *p, const struct trace *t)
{
    if (t->header.recorder == TRACE_RECORDER_MEM)
        give_name(p, add(p, &t->header), trace_program(t));
}

static void add_file(struct process_tree *p, const char *path)
{
    struct trace_header h;
    struct trace_file f;
    struct process *of;
    bool good;

    if (trace_file_open(path, 0, &f))
        return;
    good = trace_file_header(&f, &h) && h.pid;
    close(f.fd);
    if (!good)
        return;
    of = add(p, &h);
    if (!of->name && !of->path)
        of->path = xstrdup(path);
}

static void add_all_of(struct process_tree *p, const char *file)
{
    uint32_t n;

    if (trace_file_count(file, &n))
        return;
    for (uint32_t i = 1; i <= n; i++) {
        struct strbuf part = STRBUF_INIT;

        strbuf_addf(&part, "%s/%" PRIu32, file, i);
        add_file(p, part.buf);
        strbuf_release(&part);
    }
}

void process_tree_add_file(struct process_tree *p, const char *path)
{
    uint32_t number;
    char *file = trace_file_is_part(path) ? trace_file_split(path, &number) : NULL;

    if (!file) {
        add_file(p, path);
    } else if (!p->several || strcmp(p->several, file) != 0) {
        add_all_of(p, file);
        free(p->several);
        p->several = file;
        return;
    }
    free(file);
}

/* ---- placing ---- */

/* The program's name, read from its file if necessary. The file may be another process's by now,
 * so its header is compared. */
static const char *name_of(const struct process_tree *p, struct process *of)
{
    struct trace *t;

    if (!of->name && of->path && trace_load_quietly(of->path, &t) == 0) {
        if (t->header.pid == of->pid && t->header.start_monotonic_ns == of->start_ns)
            give_name(p, of, trace_program(t));
        trace_free(t);
    }
    if (!of->name)
        give_name(p, of, "unknown");
    return of->name;
}

void process_tree_place(struct process_tree *p, struct trace *t)
{
    struct process *chain[PROCTREE_ANCESTORS_MAX], *of;
    struct strbuf sb = STRBUF_INIT;
    size_t n = 0;

    if (t->header.recorder != TRACE_RECORDER_MEM)
        return;
    process_tree_add(p, t);
    t->is_fork = (t->header.features & TRACE_FEATURE_FORKED) != 0;
    for (of = parent_of(p, find(p, t->header.pid, t->header.start_monotonic_ns));
         of && n < ARRAY_LEN(chain); of = parent_of(p, of))
        chain[n++] = of;
    if (of)
        strbuf_addstr(&sb, PROCTREE_MORE);
    while (n > 0) {
        if (sb.len)
            strbuf_addch(&sb, ';');
        strbuf_addstr(&sb, name_of(p, chain[--n]));
    }
    free(t->ancestors);
    t->ancestors = strbuf_detach(&sb, NULL);
}
