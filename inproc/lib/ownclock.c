#define _GNU_SOURCE
#include "inproc/lib/ownclock.h"

#include <linux/seccomp.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "common/procmaps.h"

/* Bound on the size of the clock's code and data together, which lie side by side. */
#define CODE_REACH ((uintptr_t)64 << 10)

bool ownclock_by_call;
static uintptr_t code; /* begin of the code; 0: there is none */

void ownclock_begin(void)
{
    int state = 0;

    code = getauxval(AT_SYSINFO_EHDR);
    /* Fails on processors that have no such switch. */
    if (kernel_call(SYS_prctl, PR_GET_TSC, &state) == 0 && state == PR_TSC_SIGSEGV)
        ownclock_by_call = true;
}

/* Whether the thread may not read the processor's counter after this call. Confinement to read,
 * write and exit, strict seccomp, is such a call: even then the library must not end the thread by
 * a read of the clock. */
static bool gives_up_the_counter(const struct patch_call *call)
{
    return (call->number == SYS_prctl && call->args[0] == PR_SET_TSC &&
            call->args[1] == PR_TSC_SIGSEGV) ||
           (call->number == SYS_prctl && call->args[0] == PR_SET_SECCOMP &&
            call->args[1] == SECCOMP_MODE_STRICT) ||
           (call->number == SYS_seccomp && call->args[0] == SECCOMP_SET_MODE_STRICT);
}

/* ---- the clock's code ---- */

struct range {
    uintptr_t from, to;
};

static bool starts_with(const struct procmap *map, const char *name)
{
    for (size_t i = 0; name[i]; i++)
        if (i == map->name_len || map->name[i] != name[i])
            return false;
    return true;
}

static bool is_taken(const struct procmap *map, void *arg)
{
    const struct range *r = arg;

    return map->start < r->to && r->from < map->end &&
           (starts_with(map, "[vdso") || starts_with(map, "[vvar"));
}

static bool holds_code(uintptr_t at, uintptr_t size)
{
    struct range r = {at, size < UINTPTR_MAX - at ? at + size : UINTPTR_MAX};

    if (!code || r.from >= code + CODE_REACH || r.to + CODE_REACH <= code)
        return false;
    return procmaps_each(0, is_taken, &r);
}

static bool takes_the_code(const struct patch_call *call)
{
    switch (call->number) {
    case SYS_munmap:
    case SYS_mprotect:
        return holds_code(call->args[0], call->args[1]);
    case SYS_mremap:
        return holds_code(call->args[0], call->args[1]) ||
               (call->args[3] & MREMAP_FIXED && holds_code(call->args[4], call->args[2]));
    case SYS_mmap:
        return call->args[3] & MAP_FIXED && holds_code(call->args[0], call->args[1]);
    default:
        return false;
    }
}

void ownclock_look(const struct patch_call *call)
{
    if (!ownclock_by_call && (gives_up_the_counter(call) || takes_the_code(call)))
        ownclock_by_call = true;
}
