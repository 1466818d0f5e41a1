#include "render/views.h"

static const struct view_look looks[] = {
    {"alloc", "Memory allocated", "bytes", "mem", false},
    {"count", "Allocation calls", "calls", "mem", false},
    {"live", "Memory live at the end", "bytes", "mem", true},
    {"leak", "Memory leaked", "bytes", "mem", true},
    {"definite", "Memory nothing leads to", "bytes", "mem", true},
    {"indirect", "Memory only leaks lead to", "bytes", "mem", true},
    {"inner", "Memory reached by its inside only", "bytes", "mem", true},
    {"reachable", "Memory reachable at the end", "bytes", "mem", true},
    {"region", "Memory left behind by regions", "bytes", "mem", false},
    {"growth", "Memory growth by pass", "bytes", "mem", false},
    {"mmap", "Memory mapped at the end", "bytes", "mem", false},
    {"unmapped", "Memory mapped and unmapped", "bytes", "mem", false},
    {"rss", "Memory resident at the end", "bytes", "mem", false},
    {"swap", "Memory swapped out at the end", "bytes", "mem", false},
    {"slack", "Memory resident in no block", "bytes", "mem", false},
    {"fault", "Page faults: memory touched first", "faults", "mem", false},
    {"sizes", "Memory allocated by size", "bytes", "mem", false},
    {"lifetimes", "Memory by how long it lived", "bytes", "mem", false},
    {"short", "Memory that died young", "bytes", "mem", false},
    {"old", "Old memory at the end", "bytes", "mem", true},
    {"peak", "Memory at the peak", "bytes", "mem", true},
    {"temp", "Temporary allocations", "calls", "mem", false},
    {"off", "Off-CPU time", "us", "io", false},
    {"wakeup", "Wakeups", "us", "wakeup", false},
    {"offwake", "Off-CPU time and wakers", "us", "chain", false},
    {"chain", "Off-CPU wake chains", "us", "chain", false},
    {"io", "I/O waits", "us", "io", false},
    {"runq", "Run-queue latency", "us", "orange", false},
    {"oncpu", "On-CPU time", "us", "hot", false},
    {"hotcold", "Hot and cold", "us", "hotcold", false},
};

const struct view_look *view_look(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (strcmp(looks[i].view, name) == 0)
            return &looks[i];
    return NULL;
}
