#include "driver/monitor/recordedtrace.h"

#include <stdlib.h>

#include "common/alloc.h"
#include "common/procmaps.h"
#include "driver/monitor/live_rows.h"

static bool find_trace(const struct procmap *map, void *arg)
{
    struct trace_header h;
    char *path;

    if (!map->shared || !map->inode || !map->name_len || map->name[0] != '/')
        return false;
    path = xmemdup0(map->name, map->name_len);
    if (!live_rows_header(path, &h)) {
        free(path);
        return false;
    }
    *(char **)arg = path;
    return true;
}

char *recordedtrace_of(pid_t pid)
{
    char *path = NULL;

    procmaps_each((int)pid, find_trace, &path);
    return path;
}
