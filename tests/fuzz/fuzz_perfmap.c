/* The text of a /tmp/perf-PID.map. */
#include <stdlib.h>

#include "fold/symbols/perfmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    struct perfmap *map;

    if (!text)
        return 0;
    memcpy(text, data, size);
    map = perfmap_parse(text, size);
    for (uint64_t addr = 0; addr < 0x10000; addr += 0x333) {
        size_t len = 0;
        const char *name = perfmap_find(map, addr, &len);

        if (name && (name < text || name + len > text + size))
            abort();
    }
    perfmap_free(map);
    free(text);
    return 0;
}
