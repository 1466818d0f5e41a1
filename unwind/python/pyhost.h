/*
 * pyhost.h: functions that reading Python's frames needs from the recorder that it is a part of.
 *
 * There are three recorders: libflamemem.so (preload/python/python_host.c), libflamewait.so
 * (inproc/lib/python_waits.c) and the agent in a process that is attached to
 * (inject/agent/agent_python.c). Each of them defines these functions; the libraries have some in
 * common (pyhost_libc.c). Any thread, for itself; the recorder's guard is held. No malloc.
 */
#ifndef FLAME_UNWIND_PYTHON_PYHOST_H
#define FLAME_UNWIND_PYTHON_PYHOST_H

#include "unwind/python/pyframes.h"

/* The calling thread's PyThreadState, or 0. It need not be the thread's: that is checked. */
uintptr_t pyhost_state(const struct python *py, struct pypages *pages);

/* The calling thread's thread_id, in Python's sense. */
uintptr_t pyhost_thread(void);

/* Whether the page at address `page` can be read. */
bool pyhost_readable(uintptr_t page);

/* A number that differs when memory may have been unmapped, or mapped in the place of other memory.
 */
uint32_t pyhost_changes(void);

/* Stores a text, and sets *pc to the name that has it, as in truncate.h. Returns where the text is
 * from now on, or NULL if there is no room. Only between the two functions below. */
const char *pyhost_store(const char *text, uint32_t len, uint64_t *pc);

/* One thread at a time may add names. False: another one does, and this name must wait for the next
 * event. */
bool pyhost_begin_names(void);
void pyhost_end_names(void);

/* To be called in a forked child, where no other thread adds names. */
void pyhost_after_fork(void);

#endif
