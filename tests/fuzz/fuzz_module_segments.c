/*
 * Any bytes as the first page of a module in a process that was attached to. The first byte chooses
 * the module's bias.
 */
#include "inject/memory/module_segments.h"

#include <stdlib.h>

#define BASE ((uintptr_t)0x10000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uintptr_t biases[] = {0, BASE, 0x7fff00000000, UINTPTR_MAX - 4095};
    struct procmem m = {.fd = -1, .base = BASE};
    struct module_segments k;

    if (!size)
        return 0;
    m.bytes = data + 1;
    m.size = size - 1;
    if (!module_segments_read(&k, &m, BASE, biases[data[0] % ARRAY_LEN(biases)]))
        return 0;
    if (!k.n || k.n > MODULE_SEGMENTS)
        abort();
    for (size_t i = 0; i < k.n; i++)
        if (k.segment[i].lo >= k.segment[i].hi || k.segment[i].lo < k.lo || k.segment[i].hi > k.hi)
            abort();
    return 0;
}
