/*
 * The .debug_frame tables of this process's modules, and the .eh_frame tables of modules without a
 * search table for them. Each is read when an address first has no other rule. A module without a
 * table is cached, too.
 */
#define _GNU_SOURCE
#include "unwind/debugframe.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include "common/kernel.h"
#include "unwind/frametable.h"

#define MAX_MODULES 64

struct section {
    const char *path; /* modules.c stores one string for each module, and never frees it */
    bool debug_frame;
    struct frametable table;
};

static struct spinlock lock;
static FLAME_BULK struct section sections[MAX_MODULES];
static size_t used;

void debugframe_after_fork(void)
{
    lock.held = 0;
}

static struct section *section_of(const struct module *m, bool debug_frame)
{
    int fd;

    for (size_t i = 0; i < used; i++)
        if (sections[i].path == m->path && sections[i].debug_frame == debug_frame)
            return &sections[i];
    if (used == MAX_MODULES || m->path[0] != '/')
        return NULL;
    sections[used].path = m->path;
    sections[used].debug_frame = debug_frame;
    fd = kernel_open(m->path, O_RDONLY, 0);
    if (fd >= 0) {
        frametable_load(&sections[used].table, fd, debug_frame);
        kernel_call(SYS_close, fd);
    }
    return &sections[used++];
}

static struct rule rule_of(const struct module *m, uintptr_t pc, bool debug_frame)
{
    struct rule rule = {.kind = RULE_NONE};
    struct section *s;

    spinlock_take(&lock);
    s = section_of(m, debug_frame);
    if (s)
        rule = frametable_rule(&s->table, pc - m->bias);
    spinlock_drop(&lock);
    return rule;
}

struct rule debugframe_rule(const struct module *m, uintptr_t pc)
{
    return rule_of(m, pc, true);
}

struct rule debugframe_unlisted(const struct module *m, uintptr_t pc)
{
    return rule_of(m, pc, false);
}

bool debugframe_is_free(void)
{
    return !__atomic_load_n(&lock.held, __ATOMIC_ACQUIRE);
}
