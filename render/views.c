#include "render/views.h"

static const struct view_look looks[] = {
    {"alloc", "Memory allocated", "bytes", "mem"},
    {"count", "Allocation calls", "calls", "mem"},
    {"live", "Memory live at the end", "bytes", "mem"},
    {"leak", "Memory leaked", "bytes", "mem"},
    {"definite", "Memory nothing leads to", "bytes", "mem"},
    {"indirect", "Memory only leaks lead to", "bytes", "mem"},
    {"inner", "Memory reached by its inside only", "bytes", "mem"},
    {"reachable", "Memory reachable at the end", "bytes", "mem"},
    {"peak", "Memory at the peak", "bytes", "mem"},
    {"temp", "Temporary allocations", "calls", "mem"},
    {"off", "Off-CPU time", "us", "io"},
    {"wakeup", "Wakeups", "us", "wakeup"},
    {"offwake", "Off-CPU time and wakers", "us", "chain"},
    {"chain", "Off-CPU wake chains", "us", "chain"},
    {"io", "I/O waits", "us", "io"},
    {"runq", "Run-queue latency", "us", "orange"},
    {"oncpu", "On-CPU time", "us", "hot"},
    {"hotcold", "Hot and cold", "us", "hotcold"},
};

const struct view_look *view_look(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (strcmp(looks[i].view, name) == 0)
            return &looks[i];
    return NULL;
}
