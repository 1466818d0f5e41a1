#define _GNU_SOURCE
#include "tracer/tracee.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/procpath.h"
#include "common/alloc.h"
#include "common/strbuf.h"
#include "tracer/objects/proctask.h"
#include "tracer/objects/proctitle.h"

#define CHAINS 1024

/* Number of descriptors that schedstat files may use: other files need some of the 1,024 too. */
#define KEEP_BELOW 768

struct tracees {
    struct spaces *spaces;
    struct tracee *first;
    struct tracee *by_tid[CHAINS];
    struct tracee_process *chain[CHAINS];
};

struct tracees *tracees_new(struct spaces *spaces)
{
    struct tracees *ts = xcalloc(1, sizeof *ts);

    ts->spaces = spaces;
    return ts;
}

struct tracee *tracees_first(const struct tracees *ts)
{
    return ts->first;
}

struct tracee_process *tracees_find_process(const struct tracees *ts, pid_t pid)
{
    struct tracee_process *p = ts->chain[(unsigned)pid % CHAINS];

    while (p && p->pid != pid)
        p = p->next;
    return p;
}

static struct tracee_process *process_new(struct tracees *ts, pid_t pid, struct space *space)
{
    struct tracee_process *p = xcalloc(1, sizeof *p), **chain = &ts->chain[(unsigned)pid % CHAINS];

    p->pid = pid;
    p->space = space;
    p->title = (struct strbuf)STRBUF_INIT;
    p->next = *chain;
    *chain = p;
    return p;
}

struct tracee_process *tracees_expect_process(struct tracees *ts, pid_t pid)
{
    struct tracee_process *p = tracees_find_process(ts, pid);

    return p ? p : process_new(ts, pid, space_new(ts->spaces, pid));
}

static void process_free(struct tracees *ts, struct tracee_process *p)
{
    struct tracee_process **link = &ts->chain[(unsigned)p->pid % CHAINS];

    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    space_release(p->space);
    strbuf_release(&p->title);
    free(p);
}

static void process_unref(struct tracees *ts, struct tracee_process *p)
{
    if (--p->threads == 0)
        process_free(ts, p);
}

static struct space *space_of(struct tracees *ts, const struct off_event *begin,
                              const struct tracee *parent)
{
    if (!parent)
        return space_new(ts->spaces, begin->pid);
    if (begin->args[0] & CLONE_VM)
        return space_share(parent->process->space);
    return space_forked(parent->process->space, begin->pid);
}

struct tracee *tracee_find(const struct tracees *ts, pid_t tid)
{
    struct tracee *t = ts->by_tid[(unsigned)tid % CHAINS];

    while (t && t->tid != tid)
        t = t->beside;
    return t;
}

struct tracee *tracee_new(struct tracees *ts, const struct off_event *begin,
                          const struct tracee *parent)
{
    struct tracee *t = tracee_find(ts, begin->tid), **chain;

    if (t)
        tracee_free(ts, t);
    t = xcalloc(1, sizeof *t);
    chain = &ts->by_tid[(unsigned)begin->tid % CHAINS];
    t->tid = begin->tid;
    t->beside = *chain;
    *chain = t;
    t->since = begin->time;
    t->schedstat = -1;
    t->kernel = (struct strbuf)STRBUF_INIT;
    t->process = tracees_find_process(ts, begin->pid);
    if (!t->process)
        t->process = process_new(ts, begin->pid, space_of(ts, begin, parent));
    t->process->threads++;
    t->next = ts->first;
    if (ts->first)
        ts->first->prev = t;
    ts->first = t;
    if (!begin->newborn)
        tracee_sched(t, &t->first);
    return t;
}

void tracee_free(struct tracees *ts, struct tracee *t)
{
    struct tracee **link = &ts->by_tid[(unsigned)t->tid % CHAINS];

    while (*link != t)
        link = &(*link)->beside;
    *link = t->beside;
    if (t->schedstat >= 0)
        close(t->schedstat);
    strbuf_release(&t->kernel);
    free(t->regions.open);
    free(t->regions.passes);
    process_unref(ts, t->process);
    if (t->prev)
        t->prev->next = t->next;
    else
        ts->first = t->next;
    if (t->next)
        t->next->prev = t->prev;
    arg_copy_release(&t->memory);
    free(t->sample.members);
    free(t);
}

void tracee_exec(struct tracees *ts, struct tracee *t)
{
    space_release(t->process->space);
    t->process->space = space_new(ts->spaces, t->process->pid);
    if (t->schedstat >= 0) /* may belong to the previous leader */
        close(t->schedstat);
    t->schedstat = -1;
}

void tracees_free(struct tracees *ts)
{
    if (!ts)
        return;
    while (ts->first)
        tracee_free(ts, ts->first);
    for (size_t i = 0; i < CHAINS; i++) /* expected, and no thread came */
        while (ts->chain[i])
            process_free(ts, ts->chain[i]);
    free(ts);
}

bool tracee_sched(struct tracee *t, struct off_sched *out)
{
    int fd = t->schedstat;
    bool known;

    if (fd < 0) {
        fd = open(proc_path(t->tid, "schedstat").s, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return false;
    }
    known = task_sched_read(fd, out);
    if (fd < KEEP_BELOW)
        t->schedstat = fd;
    else
        close(fd);
    return known;
}

/* Bytes of a title that are read; no picture shows more. */
#define TITLE_READ 256

bool tracee_process_retitled(struct tracee_process *p)
{
    char text[TITLE_READ + 1];
    ssize_t got = task_read(p->pid, "cmdline", text, sizeof text);
    size_t n = got > 0 ? proctitle_len(text, (size_t)got) : 0;

    p->asked = true;
    if (got < 0 || (n == p->title.len && memcmp(text, p->title.buf, n) == 0))
        return false;
    strbuf_clear(&p->title);
    strbuf_add(&p->title, text, n);
    return true;
}

bool tracee_renamed(struct tracee *t)
{
    char comm[16];

    if (!task_comm(t->tid, comm) || strcmp(comm, t->comm) == 0)
        return false;
    memcpy(t->comm, comm, sizeof comm);
    return true;
}
