/*
 * The recorder for musl has no second unwinder. Debian has no libunwind for musl, and where there
 * is one (Alpine), its imports differ from those that fallback_libunwind.c redirects. So a stack
 * ends where the rules end, which local.c marks as truncated.
 */
#include "unwind/fallback.h"

#include <errno.h>

int fallback_init(const char **why)
{
    *why = NULL;
    return 0;
}

bool fallback_is_ready(void)
{
    return false;
}

int fallback_walk(uintptr_t *pcs FLAME_UNUSED, int max FLAME_UNUSED)
{
    return 0;
}

int fallback_walk_afresh(uintptr_t *pcs FLAME_UNUSED, int max FLAME_UNUSED)
{
    return -ENOSYS;
}

bool fallback_step(struct walk_regs *regs FLAME_UNUSED)
{
    return false;
}

void fallback_forget(void)
{
}
