#include "tracer/faults/faultrecorder.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/alloc.h"
#include "common/strbuf.h"
#include "tracer/faults/faultmaps.h"
#include "tracer/stacks/capture.h"

/* One program's trace and the stacks in it. `to` is NULL if the trace could not be made; an error
 * line has been printed then. */
struct program {
    char name[16];
    struct offtrace *to;
    struct stacks *stacks;
};

/* One process, until its last thread has ended. */
struct process {
    uint32_t pid;
    struct program *program;
    struct space *space;
    struct faultmaps maps;
};

struct thread {
    uint32_t tid;
    struct process *process;
    char name[16];
    uint16_t id; /* in the trace; 0: not added yet */
};

struct faultrecorder {
    const char *dir;
    unsigned depth;
    struct program programs[FAULTRECORDER_PROGRAMS];
    size_t nprograms;
    uint64_t lost; /* faults lost before there was a trace that could count them */
    struct process **processes;
    size_t nprocesses, processes_room;
    struct thread *threads; /* by tid */
    size_t nthreads, threads_room;
};

static void report_maps(void *arg, pid_t pid, bool (*visit)(const struct procmap *m, void *arg),
                        void *visit_arg)
{
    struct faultrecorder *f = arg;

    for (size_t i = 0; i < f->nprocesses; i++)
        if (f->processes[i]->pid == (uint32_t)pid)
            for (size_t k = 0; k < f->processes[i]->maps.n; k++)
                visit(&f->processes[i]->maps.maps[k], visit_arg);
}

struct faultrecorder *faultrecorder_new(const char *dir, unsigned depth)
{
    struct faultrecorder *f = xcalloc(1, sizeof *f);

    f->dir = dir;
    f->depth = depth;
    return f;
}

/* ---- programs ---- */

static void make_trace(struct faultrecorder *f, struct program *g)
{
    struct offtrace_init init = {.pid = getpid(), .depth = f->depth, .faults_of = g->name};
    struct strbuf path = STRBUF_INIT;

    strbuf_addf(&path, "%s/faults-%zu.flame", f->dir, f->nprograms);
    init.path = path.buf;
    g->to = offtrace_new(&init);
    strbuf_release(&path);
    if (!g->to)
        return;
    offtrace_lost(g->to, f->lost);
    f->lost = 0;
    g->stacks = stacks_new(g->to, (int)f->depth);
    stacks_have_own_libraries(g->stacks);
    spaces_receive_maps(stacks_spaces(g->stacks), report_maps, f);
}

static struct program *program_of(struct faultrecorder *f, const char *name)
{
    struct program *g;

    for (size_t i = 0; i < f->nprograms; i++)
        if (strncmp(f->programs[i].name, name, sizeof f->programs[i].name - 1) == 0)
            return &f->programs[i];
    if (f->nprograms == FAULTRECORDER_PROGRAMS)
        return &f->programs[f->nprograms - 1];
    g = &f->programs[f->nprograms++];
    memcpy(g->name, name, strnlen(name, sizeof g->name - 1));
    make_trace(f, g);
    return g;
}

/* ---- processes and threads ---- */

static size_t place_of(const struct faultrecorder *f, uint32_t tid)
{
    size_t lo = 0, hi = f->nthreads;

    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;

        if (f->threads[mid].tid < tid)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static struct thread *find_thread(const struct faultrecorder *f, uint32_t tid)
{
    size_t at = place_of(f, tid);

    return at < f->nthreads && f->threads[at].tid == tid ? &f->threads[at] : NULL;
}

static struct process *find_process(const struct faultrecorder *f, uint32_t pid)
{
    for (size_t i = f->nprocesses; i-- > 0;)
        if (f->processes[i]->pid == pid)
            return f->processes[i];
    return NULL;
}

/* Adds a process without a program and without mappings. */
static struct process *keep_process(struct faultrecorder *f, uint32_t pid)
{
    struct process *p = xcalloc(1, sizeof *p);

    p->pid = pid;
    GROW(f->processes, f->nprocesses, f->processes_room);
    f->processes[f->nprocesses++] = p;
    return p;
}

/* The process executes a program of this name; no mappings of it are known yet. */
static void begin_program(struct faultrecorder *f, struct process *p, const char *name)
{
    faultmaps_release(&p->maps);
    space_release(p->space);
    p->program = program_of(f, name);
    p->space = p->program->to ? space_new(stacks_spaces(p->program->stacks), (pid_t)p->pid) : NULL;
}

/* Adds a process with the program and the mappings of its parent, if the parent is known. */
static struct process *add_process(struct faultrecorder *f, uint32_t pid, struct process *parent)
{
    struct process *p = keep_process(f, pid);

    if (parent) {
        p->program = parent->program;
        p->space = parent->space ? space_forked(parent->space, (pid_t)pid) : NULL;
        faultmaps_copy(&p->maps, &parent->maps);
    } else {
        begin_program(f, p, "unknown");
    }
    return p;
}

static void free_process(struct process *p)
{
    space_release(p->space);
    faultmaps_release(&p->maps);
    free(p);
}

static void remove_process(struct faultrecorder *f, const struct process *p)
{
    for (size_t i = 0; i < f->nthreads; i++)
        if (f->threads[i].process == p)
            return;
    for (size_t i = 0; i < f->nprocesses; i++)
        if (f->processes[i] == p) {
            free_process(f->processes[i]);
            f->processes[i] = f->processes[--f->nprocesses];
            return;
        }
}

static void remove_thread(struct faultrecorder *f, uint32_t tid)
{
    struct thread *t = find_thread(f, tid);
    struct process *p;

    if (!t)
        return;
    p = t->process;
    f->nthreads--;
    memmove(t, t + 1, (size_t)(&f->threads[f->nthreads] - t) * sizeof *t);
    remove_process(f, p);
}

static struct thread *add_thread(struct faultrecorder *f, uint32_t tid, struct process *p,
                                 const char *name)
{
    size_t at = place_of(f, tid);
    struct thread *t;

    GROW(f->threads, f->nthreads, f->threads_room);
    t = &f->threads[at];
    memmove(t + 1, t, (f->nthreads - at) * sizeof *t);
    f->nthreads++;
    *t = (struct thread){.tid = tid, .process = p};
    memcpy(t->name, name, strnlen(name, sizeof t->name - 1));
    return t;
}

/* Thread of a record; added without a name if it is not known. */
static struct thread *thread_of(struct faultrecorder *f, const struct fault_record *r)
{
    struct thread *t = find_thread(f, r->tid);
    struct process *p;

    if (t)
        return t;
    p = find_process(f, r->pid);
    return add_thread(f, r->tid, p ? p : add_process(f, r->pid, NULL), "");
}

void faultrecorder_free(struct faultrecorder *f)
{
    if (!f)
        return;
    for (size_t i = 0; i < f->nprocesses; i++)
        free_process(f->processes[i]);
    free(f->processes);
    free(f->threads);
    for (size_t i = 0; i < f->nprograms; i++) {
        stacks_free(f->programs[i].stacks);
        offtrace_free(f->programs[i].to);
    }
    free(f);
}

/* ---- records ---- */

static void take_fork(struct faultrecorder *f, const struct fault_record *r)
{
    struct thread *parent = find_thread(f, r->parent_tid);
    struct process *p = find_process(f, r->parent_pid);
    char name[sizeof parent->name] = "";

    if (parent)
        memcpy(name, parent->name, sizeof name);
    remove_thread(f, r->tid); /* the end of the earlier thread with this id was lost */
    if (r->pid != r->parent_pid || !p)
        p = add_process(f, r->pid, p);
    add_thread(f, r->tid, p, name);
}

static void take_name(struct faultrecorder *f, const struct fault_record *r)
{
    struct thread *t = thread_of(f, r);

    memset(t->name, 0, sizeof t->name);
    memcpy(t->name, r->name, strnlen(r->name, sizeof t->name - 1));
    if (r->kind == FAULT_EXEC)
        t->id = 0; /* the thread keeps its number, but runs another program */
    else if (t->id)
        offtrace_rename(t->process->program->to, t->id, t->name);
}

static void take_exec(struct faultrecorder *f, const struct fault_record *r)
{
    if (!find_process(f, r->pid))
        keep_process(f, r->pid);
    take_name(f, r);
    begin_program(f, find_thread(f, r->tid)->process, r->name);
}

static void take_mapping(struct faultrecorder *f, const struct fault_record *r)
{
    struct process *p = thread_of(f, r)->process;
    struct procmap m = {.start = r->start,
                        .end = r->start + r->size,
                        .read = r->prot & PROT_READ,
                        .write = r->prot & PROT_WRITE,
                        .exec = r->prot & PROT_EXEC,
                        .shared = r->flags & MAP_SHARED,
                        .offset = r->offset,
                        .major = r->major,
                        .minor = r->minor,
                        .inode = r->inode,
                        .name = r->name,
                        .name_len = strlen(r->name)};

    faultmaps_add(&p->maps, &m);
    if (p->space)
        space_changed(p->space);
}

static uint32_t add_name(struct offtrace *to, uint32_t node, const char *name)
{
    return offtrace_name(to, node, TRACE_NODE_NAME, name, strlen(name));
}

static void lose(struct faultrecorder *f, uint64_t n)
{
    if (f->nprograms && f->programs[0].to)
        offtrace_lost(f->programs[0].to, n);
    else
        f->lost += n;
}

static void take_page(struct faultrecorder *f, const struct fault_record *r, bool major)
{
    struct thread *t = thread_of(f, r);
    struct program *g = t->process->program;
    struct user_regs_struct regs = faultregs_of(r->regs);
    uint32_t node = 0;

    if (!g->to) {
        lose(f, 1);
        return;
    }
    if (!t->id)
        t->id = offtrace_thread(g->to, 0, (pid_t)r->tid, t->name);
    if (r->has_regs)
        node = stacks_copied(g->stacks, t->process->space, (pid_t)r->tid, t->id, &regs, r->stack,
                             r->stack_size);
    if (!node) /* no stack could be read: only the fault itself is known */
        node = add_name(g->to, offtrace_root(g->to, t->id, 0), TRACE_STACK_INCOMPLETE);
    if (r->in_kernel)
        node = add_name(g->to, node, TRACE_FAULT_CALL);
    node = add_name(g->to, node, major ? TRACE_FAULT_MAJOR : TRACE_FAULT_MINOR);
    offtrace_fault(g->to, node, t->id);
}

void faultrecorder_take(struct faultrecorder *f, const struct fault_record *r, bool major)
{
    switch (r->kind) {
    case FAULT_PAGE:
        take_page(f, r, major);
        break;
    case FAULT_LOST:
        lose(f, r->lost);
        break;
    case FAULT_FORK:
        take_fork(f, r);
        break;
    case FAULT_EXIT:
        remove_thread(f, r->tid);
        break;
    case FAULT_NAME:
        take_name(f, r);
        break;
    case FAULT_EXEC:
        take_exec(f, r);
        break;
    case FAULT_MAPPING:
        take_mapping(f, r);
        break;
    case FAULT_NONE:
    case FAULT_DAMAGED:
        break;
    }
}
