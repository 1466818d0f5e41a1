/*
 * inproc_source.h for a processor on which programs do not note their calls yet: all calls stop.
 * docs/ports.md says what is wanted.
 */
#include "tracer/inproc/inproc_source.h"

struct inside *inside_new(const struct inside_client *client, const char **why)
{
    (void)client;
    *why = "programs note their calls on x86-64 only, and this is aarch64";
    return NULL;
}

/* Nobody has one to ask. */
uintptr_t inside_lets_by(const struct inside *i)
{
    (void)i;
    return 0;
}

uintptr_t inside_marked(const struct inside *i)
{
    (void)i;
    return 0;
}

const char *inside_environment(const struct inside *i)
{
    (void)i;
    return "";
}

void inside_tell(struct inside *i, uint64_t until)
{
    (void)i;
    (void)until;
}

uint64_t inside_beat(struct inside *i)
{
    (void)i;
    return 0;
}

bool inside_stopped(struct inside *i, const struct off_event *e)
{
    (void)i;
    (void)e;
    return false;
}

void inside_born(struct inside *i, pid_t parent, pid_t child, uint64_t flags)
{
    (void)i;
    (void)parent;
    (void)child;
    (void)flags;
}

void inside_handled(struct inside *i, pid_t tid, uint64_t now)
{
    (void)i;
    (void)tid;
    (void)now;
}

void inside_gone(struct inside *i, pid_t tid)
{
    (void)i;
    (void)tid;
}

void inside_process_gone(struct inside *i, pid_t pid)
{
    (void)i;
    (void)pid;
}

void inside_say_refusals(const struct inside *i)
{
    (void)i;
}

void inside_end(struct inside *i)
{
    (void)i;
}
