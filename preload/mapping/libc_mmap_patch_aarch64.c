/*
 * libc_mmap_patch.h for a processor on which the C library is not patched yet (docs/ports.md): a
 * user who requests it gets a message, and everything else is recorded.
 */
#include "preload/mapping/libc_mmap_patch.h"

#include <stddef.h>

#include "preload/runtime/log.h"
#include "preload/hook_scope.h"

bool libc_mmap_patch_on;

/* Never called, because no mapping waits for a row. */
void hook_flush_libc_mappings(const uintptr_t *caller FLAME_UNUSED)
{
}

static void begin(const char *sites FLAME_UNUSED)
{
    log_line(
        "what the C library maps inside itself is not seen: its calls are patched on x86-64 only",
        NULL);
}

void (*const lifecycle_mapping_begin)(const char *sites) = begin;
