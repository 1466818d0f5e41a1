/*
 * agent_image.h: the agent (inject/agent/) as the bytes of a shared object inside flame's own file.
 */
#ifndef FLAME_INJECT_AGENT_IMAGE_H
#define FLAME_INJECT_AGENT_IMAGE_H

#include <elf.h>
#include <stdbool.h>

#include "inject/agent/agent.h"

struct agent_image {
    const uint8_t *bytes;
    size_t size;
    uint64_t span;            /* size of its addresses, in whole pages */
    uint64_t text, text_size; /* read and executed; from the file's beginning */
    uint64_t data,
        data_size; /* read and written, whole pages; zero except for parts that are never read */
    uint64_t hooks[AGENT_FUNCTIONS]; /* offsets in it */
    uint64_t state, control;         /* agent_shared, agent_switch */
};

/* The functions' names as programs import them, in the order of enum agent_function. */
extern const char *const agent_image_functions[AGENT_FUNCTIONS];

/* Reads the layout. False: flame was not built correctly. */
bool agent_image_open(struct agent_image *b);

#endif
