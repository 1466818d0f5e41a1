/*
 * stub.h: code that a patched site branches to, behind one interface for each processor.
 *
 * A stub is a slot of STUB_SLOT bytes in code that the patcher writes. It executes the instructions
 * that the branch replaced and jumps to the common code (stub_x86_64.c), which calls the handler.
 *
 * Slots in `stub_home`, a part of the library's own text, have call frame information for every
 * unwinder; the slot itself holds the values that differ between slots. Slots elsewhere, for
 * modules that are too far from the library, have none. That matters only to a signal handler that
 * interrupts one of the few instructions of such a slot: a walk from there ends. Walks from within
 * a call never meet a slot.
 *
 * Pure; no libc. Thread-safe for different slots.
 */
#ifndef FLAME_PATCH_STUB_H
#define FLAME_PATCH_STUB_H

#include "patch/site.h"

#define STUB_SLOT 128
/* Number of slots, whole pages of them; a library that patches a few sites is built with fewer. */
#ifndef STUB_HOME_SLOTS
#define STUB_HOME_SLOTS 1024
#endif

/* Whole pages, which contain nothing else. */
extern uint8_t stub_home[STUB_HOME_SLOTS * STUB_SLOT] __attribute__((visibility("hidden")));

/*
 * Writes the stub for a site at `window` in memory into `slot`, STUB_SLOT aligned bytes. False: a
 * distance in the window does not reach from there.
 */
bool stub_write(uint8_t *slot, const struct patch_site *s, uintptr_t window);

/* Writes the window's bytes with a branch to the slot; `to` gets as many bytes as the window
 * has. */
void stub_branch(uint8_t to[SITE_WINDOW], const struct patch_site *s, uintptr_t window,
                 const uint8_t *slot);

#endif
