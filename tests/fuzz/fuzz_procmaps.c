/* One line of /proc/PID/maps. */
#include <stdlib.h>

#include "common/procmaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *line = malloc(size + 1);
    struct procmap m;

    if (!line)
        return 0;
    memcpy(line, data, size);
    if (procmaps_parse(line, size, &m) &&
        (m.start >= m.end || (m.name_len && (m.name < line || m.name + m.name_len != line + size))))
        abort();
    free(line);
    return 0;
}
