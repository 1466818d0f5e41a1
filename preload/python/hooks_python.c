/*
 * Switches names of Python's functions on, and resets them in forked children.
 */
#include "preload/lifecycle.h"
#include "unwind/python/pynames.h"
#include "preload/python/pystacks.h"
#include "preload/runtime/config.h"

static void started(const struct config *config)
{
    pystacks_begin(config->referee);
}

const struct lifecycle_listener lifecycle_python = {.started = started,
                                                    .forked = pynames_after_fork};
