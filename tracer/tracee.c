#define _GNU_SOURCE
#include "tracer/tracee.h"

#include <fcntl.h>
#include <linux/sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/strbuf.h"
#include "tracer/proctask.h"

#define CHAINS 1024

/* Others need descriptors too, of the 1,024 there may be. */
#define KEEP_BELOW 768

struct tracees {
    struct spaces *spaces;
    struct tracee *first;
    struct process *chain[CHAINS];
};

struct tracees *tracees_new(struct spaces *spaces)
{
    struct tracees *ts = xcalloc(1, sizeof *ts);

    ts->spaces = spaces;
    return ts;
}

void tracees_free(struct tracees *ts)
{
    if (!ts)
        return;
    while (ts->first)
        tracee_free(ts, ts->first);
    free(ts);
}

struct tracee *tracees_first(const struct tracees *ts)
{
    return ts->first;
}

struct process *process_find(const struct tracees *ts, pid_t pid)
{
    struct process *p = ts->chain[(unsigned)pid % CHAINS];

    while (p && p->pid != pid)
        p = p->next;
    return p;
}

static struct process *process_new(struct tracees *ts, pid_t pid, struct space *space)
{
    struct process *p = xcalloc(1, sizeof *p), **chain = &ts->chain[(unsigned)pid % CHAINS];

    p->pid = pid;
    p->space = space;
    p->next = *chain;
    *chain = p;
    return p;
}

static void process_unref(struct tracees *ts, struct process *p)
{
    struct process **link = &ts->chain[(unsigned)p->pid % CHAINS];

    if (--p->threads)
        return;
    while (*link != p)
        link = &(*link)->next;
    *link = p->next;
    space_release(p->space);
    free(p);
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

struct tracee *tracee_new(struct tracees *ts, const struct off_event *begin,
                          const struct tracee *parent)
{
    struct tracee *t = xcalloc(1, sizeof *t);

    t->tid = begin->tid;
    t->since = begin->time;
    t->schedstat = -1;
    t->kernel = (struct strbuf)STRBUF_INIT;
    t->process = process_find(ts, begin->pid);
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
    if (t->schedstat >= 0)
        close(t->schedstat);
    strbuf_release(&t->kernel);
    process_unref(ts, t->process);
    if (t->prev)
        t->prev->next = t->next;
    else
        ts->first = t->next;
    if (t->next)
        t->next->prev = t->prev;
    free(t);
}

void tracee_exec(struct tracees *ts, struct tracee *t)
{
    space_release(t->process->space);
    t->process->space = space_new(ts->spaces, t->process->pid);
    if (t->schedstat >= 0) /* perhaps of the leader that was */
        close(t->schedstat);
    t->schedstat = -1;
}

bool tracee_sched(struct tracee *t, struct off_sched *out)
{
    char path[64], text[96], *at = text;
    ssize_t n;
    int fd = t->schedstat;

    if (fd < 0) {
        snprintf(path, sizeof path, "/proc/%d/schedstat", (int)t->tid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return false;
    }
    n = pread(fd, text, sizeof text - 1, 0);
    if (fd < KEEP_BELOW)
        t->schedstat = fd;
    else
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    out->cpu_ns = strtoull(at, &at, 10);
    out->runq_ns = strtoull(at, &at, 10);
    out->runs = strtoull(at, &at, 10);
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
