/* A trace file of the test's own under the recorder's store. */
#ifndef FLAME_TESTS_SCRATCH_STORE_H
#define FLAME_TESTS_SCRATCH_STORE_H

#include <stdlib.h>
#include <unistd.h>

#include "preload/store/store.h"

static char scratch_path[4096];

static inline bool scratch_store_open(void)
{
    const char *dir = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    struct trace_header init = {.recorder = TRACE_RECORDER_MEM, .peak_epoch = 1};

    snprintf(scratch_path, sizeof scratch_path, "%s/flame-unit-%d.flame", dir, (int)getpid());
    return trace_writer_create(&store.writer, scratch_path, &init) == 0;
}

static inline void scratch_store_close(void)
{
    trace_writer_abandon(&store.writer);
    unlink(scratch_path);
}

#endif
