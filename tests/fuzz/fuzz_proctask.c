/* The kernel's text about a thread: its call, its times. */
#include <stdlib.h>
#include <string.h>

#include "tracer/objects/proctask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1); /* of its own size: reading beyond is noticed */
    struct task_call call;
    struct off_sched sched;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (task_call_parse(text, &call)) {
        if ((call.where == TASK_IN_CALL) != (call.nr >= 0))
            abort();
        if (call.where == TASK_RUNS && (call.sp || call.pc))
            abort();
    }
    task_sched_parse(text, &sched);
    free(text);
    return 0;
}
