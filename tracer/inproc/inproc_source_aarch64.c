/*
 * inproc_source.h for a processor on which programs do not log their calls yet: all calls stop.
 * docs/ports.md has the requirements.
 */
#include "tracer/inproc/inproc_source.h"

struct inproc *inproc_new(const struct inproc_client *client, const char **why)
{
    (void)client;
    *why = "programs note their calls on x86-64 only, and this is aarch64";
    return NULL;
}

/* Never called, because inproc_new returns NULL here. */
uintptr_t inproc_lets_by(const struct inproc *i)
{
    (void)i;
    return 0;
}

uintptr_t inproc_marked(const struct inproc *i)
{
    (void)i;
    return 0;
}

const char *inproc_environment(const struct inproc *i)
{
    (void)i;
    return "";
}

void inproc_drain(struct inproc *i, uint64_t until)
{
    (void)i;
    (void)until;
}

uint64_t inproc_beat(struct inproc *i)
{
    (void)i;
    return 0;
}

bool inproc_stopped(struct inproc *i, const struct off_event *e)
{
    (void)i;
    (void)e;
    return false;
}

void inproc_clone(struct inproc *i, pid_t parent, pid_t child, uint64_t flags)
{
    (void)i;
    (void)parent;
    (void)child;
    (void)flags;
}

void inproc_signal(struct inproc *i, pid_t tid, uint64_t now)
{
    (void)i;
    (void)tid;
    (void)now;
}

void inproc_exit(struct inproc *i, pid_t tid)
{
    (void)i;
    (void)tid;
}

void inproc_process_exit(struct inproc *i, pid_t pid)
{
    (void)i;
    (void)pid;
}

void inproc_print_unsupported(const struct inproc *i)
{
    (void)i;
}

void inproc_end(struct inproc *i)
{
    (void)i;
}
