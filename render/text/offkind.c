#include "render/text/offkind.h"

#include <stddef.h>

#include "common/compiler.h"
#include "common/trace_format.h"

const char *offkind_name(uint32_t kind)
{
    static const char *const names[] = {
        [TRACE_OFF_OTHER] = "other",
        [TRACE_OFF_LOCK] = "lock",
        [TRACE_OFF_FILE] = "file",
        [TRACE_OFF_NETWORK] = "network",
        [TRACE_OFF_LOCAL] = "local",
        [TRACE_OFF_POLL] = "poll",
        [TRACE_OFF_TIMER] = "timer",
        [TRACE_OFF_CHILD] = "child",
        [TRACE_OFF_SIGNAL] = "signal",
        [TRACE_OFF_TERMINAL] = "terminal",
        [TRACE_OFF_IPC] = "ipc",
        [TRACE_OFF_ONCPU] = "oncpu",
        [TRACE_OFF_TRACER] = "tracer",
        [TRACE_OFF_STOPPED] = "stopped",
        [TRACE_OFF_FAULT] = "fault",
        [TRACE_OFF_OUTSIDE] = "outside",
        [TRACE_OFF_LEFT_OUT] = "left-out",
        [TRACE_OFF_TOO_SHORT] = "brief",
        [TRACE_OFF_NOT_SAMPLED] = "missed",
        [TRACE_OFF_CLASS] = "class",
        [TRACE_OFF_ROOM] = "room",
    };

    return kind < ARRAY_LEN(names) ? names[kind] : NULL;
}
