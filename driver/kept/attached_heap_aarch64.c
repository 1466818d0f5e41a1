#include "driver/kept/attached_heap.h"

/* Never called: on aarch64 no process can be attached to (inject/attachment_aarch64.c). */
void attached_heap_rows(void *arg FLAME_UNUSED, const struct heap_snapshot *h FLAME_UNUSED,
                        struct agent_trace *t FLAME_UNUSED)
{
}
