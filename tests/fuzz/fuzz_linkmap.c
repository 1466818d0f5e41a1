/*
 * Any bytes as the memory of a process that is to be recorded: program headers at its beginning, a
 * loader's list, symbols, relocations, a Python interpreter.
 */
#include "inject/linkmap.h"
#include "inject/python_target.h"

#include <stdlib.h>

#define BASE ((uintptr_t)0x10000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void see(void *arg, uintptr_t at, size_t which, bool lazy)
{
    (void)arg;
    (void)lazy;
    if (at & 7 || which > 1)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"malloc", "calloc"};
    struct procmem m = {.fd = -1, .bytes = data, .base = BASE, .size = size};
    struct agent_python python;
    struct linkmap l;
    uint32_t unnamed;
    bool changed;

    if (linkmap_find(&l, &m, BASE, 3) != LINKMAP_OK || linkmap_read(&l, &m, &changed) != LINKMAP_OK)
        return 0;
    if (!changed || !linkmap_same(&l, &m))
        abort();
    for (size_t i = 0; i < l.n && i < 16; i++) {
        linked_defines(&l.modules[i], &m, "malloc");
        linked_slots(&l.modules[i], &m, names, ARRAY_LEN(names), see, NULL);
    }
    python_target_find(&python, &unnamed, &m, &l);
    linkmap_release(&l);
    return 0;
}
