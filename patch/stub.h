/*
 * stub.h: code that a patched site branches to, behind one interface for each processor.
 *
 * A stub is a slot of STUB_SLOT bytes in code that the patcher writes: it does what had to give way
 * at the site and jumps to the common code (stub_x86_64.c), which calls the handler.
 *
 * For slots in `stub_home`, a part of the library's own text, every unwinder has call frame
 * information, as it has for other code: the slot itself holds what is different from one to the
 * next. Slots elsewhere, where the library lies too far from the module, have none. Only a signal
 * handler that interrupts one of the few instructions of such a slot notices: a walk from there
 * ends. Walks from within a call never meet a slot.
 *
 * Pure; no libc. Thread-safe for different slots.
 */
#ifndef FLAME_PATCH_STUB_H
#define FLAME_PATCH_STUB_H

#include "patch/site.h"

#define STUB_SLOT 128
/* Whole pages of slots; a library that patches a few sites is built with fewer. */
#ifndef STUB_HOME_SLOTS
#define STUB_HOME_SLOTS 1024
#endif

/* A multiple of pages, and nothing else is on them. */
extern uint8_t stub_home[STUB_HOME_SLOTS * STUB_SLOT] __attribute__((visibility("hidden")));

/*
 * Writes the stub for a site at `window` in memory into `slot`, an aligned place of STUB_SLOT
 * bytes. False: a distance in the window does not reach from there.
 */
bool stub_write(uint8_t *slot, const struct patch_site *s, uintptr_t window);

/* Bytes of the window with a branch to the slot: as many as the window has. */
void stub_branch(uint8_t to[SITE_WINDOW], const struct patch_site *s, uintptr_t window,
                 const uint8_t *slot);

#endif
