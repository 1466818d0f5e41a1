/*
 * entry.h for a processor on which functions are not patched yet: entries_apply reports it, and
 * other hooks are not affected (docs/ports.md).
 */
#include "patch/entry/entry.h"

enum patch_result entries_apply(struct patch_entry *entries, size_t n, void (*ready)(void *arg),
                                void *arg)
{
    (void)ready;
    (void)arg;
    for (size_t i = 0; i < n; i++)
        entries[i].original = NULL;
    return PATCH_NOTHING;
}
