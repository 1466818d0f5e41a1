#include "render/views.h"

static const struct view_look looks[] = {
    {"alloc", "Memory allocated", "bytes", "mem", NULL, false},
    {"count", "Allocation calls", "calls", "mem", NULL, false},
    {"live", "Memory live at the end", "bytes", "mem", "Memory live", true},
    {"leak", "Memory leaked", "bytes", "mem", NULL, true},
    {"definite", "Memory nothing leads to", "bytes", "mem", NULL, true},
    {"indirect", "Memory only leaks lead to", "bytes", "mem", NULL, true},
    {"inner", "Memory reached by its inside only", "bytes", "mem", NULL, true},
    {"reachable", "Memory reachable at the end", "bytes", "mem", NULL, true},
    {"region", "Memory left behind by regions", "bytes", "mem", NULL, false},
    {"growth", "Memory growth by pass", "bytes", "mem", NULL, false},
    {"mmap", "Memory mapped at the end", "bytes", "mem", "Memory mapped", false},
    {"brk", "Program break at the end", "bytes", "mem", NULL, false},
    {"grown", "Memory grown", "bytes", "mem", "Memory grown", false},
    {"mapgrown", "Mapped memory grown", "bytes", "mem", "Mapped memory grown", false},
    {"unmapped", "Memory mapped and unmapped", "bytes", "mem", NULL, false},
    {"rss", "Memory resident at the end", "bytes", "mem", NULL, false},
    {"swap", "Memory swapped out at the end", "bytes", "mem", NULL, false},
    {"slack", "Memory resident in no block", "bytes", "mem", NULL, false},
    {"fault", "Page faults: memory touched first", "faults", "mem", NULL, false},
    {"touched", "Page faults, by whose memory was touched", "faults", "mem", NULL, false},
    {"sizes", "Memory allocated by size", "bytes", "mem", NULL, false},
    {"lifetimes", "Memory by how long it lived", "bytes", "mem", NULL, false},
    {"short", "Memory that died young", "bytes", "mem", NULL, false},
    {"old", "Old memory at the end", "bytes", "mem", NULL, true},
    {"peak", "Memory at the peak", "bytes", "mem", NULL, true},
    {"temp", "Temporary allocations", "calls", "mem", NULL, false},
    {"off", "Off-CPU time", "us", "io", NULL, false},
    {"wakeup", "Wakeups", "us", "wakeup", NULL, false},
    {"offwake", "Off-CPU time and wakers", "us", "chain", NULL, false},
    {"chain", "Off-CPU wake chains", "us", "chain", NULL, false},
    {"io", "I/O waits", "us", "io", NULL, false},
    {"runq", "Run-queue latency", "us", "orange", NULL, false},
    {"latency", "Sleeps by how long they took", "sleeps", "io", NULL, false},
    {"critical", "Critical path", "us", "hotcold", NULL, false},
    {"oncpu", "On-CPU time", "us", "hot", NULL, false},
    {"hotcold", "Hot and cold", "us", "hotcold", NULL, false},
};

const struct view_look *view_look(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(looks); i++)
        if (strcmp(looks[i].view, name) == 0)
            return &looks[i];
    return NULL;
}
