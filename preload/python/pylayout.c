/*
 * The offsets come from the headers that CPython installs, by offsetof with gcc for x86-64.
 * Include/cpython has thread states, code and texts; Include/internal has the runtime and frames.
 * Those of 3.11.2 and 3.11.7 are equal; the others are of 3.12.1 and 3.13.0.
 *
 * The key of the thread's state follows locks of the C library, which have other sizes on other
 * processors. So there are rows only for x86-64.
 */
#include "preload/python/pylayout.h"

#include <stddef.h>

#include "common/compiler.h"

#if defined(__x86_64__)
static const struct pylayout layouts[] = {
    {.version = 0x30b,
     .runtime_key = 592,
     .state_frames = 56,
     .state_thread = 152,
     .frame_code = 32,
     .frame_previous = 48,
     .frame_entry = 68, /* is_entry */
     .entry_is = 1,
     .has_cframes = 1,
     .cframe_current = 8,
     .cframe_previous = 16,
     .entry_is_a_frame = 1,
     .text_bytes = 48,
     .text_others = 72,
     .code_first_line = 72,
     .code_filename = 112,
     .code_qualname = 128},
    {.version = 0x30c,
     .runtime_key = 1544,
     .state_frames = 56,
     .state_thread = 136,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_entry = 70, /* owner */
     .entry_is = 3,     /* FRAME_OWNED_BY_CSTACK */
     .has_cframes = 1,
     .cframe_current = 0,
     .cframe_previous = 8,
     .text_bytes = 40,
     .text_others = 56,
     .code_first_line = 68,
     .code_filename = 112,
     .code_qualname = 128},
    {.version = 0x30d,
     .runtime_key = 2160,
     .state_frames = 72,
     .state_thread = 152,
     .frame_code = 0,
     .frame_previous = 8,
     .frame_entry = 70,
     .entry_is = 3,
     .text_bytes = 40,
     .text_others = 56,
     .code_first_line = 68,
     .code_filename = 112,
     .code_qualname = 128},
};
#else
static const struct pylayout layouts[1];
#endif

const struct pylayout *pylayout_of(uint32_t version)
{
    for (size_t i = 0; version && i < ARRAY_LEN(layouts); i++)
        if (layouts[i].version == version)
            return &layouts[i];
    return NULL;
}
