/*
 * modules.h: the ELF files that are mapped in the process, as a snapshot of flame's own.
 *
 * The loader's list can only be walked under the loader's lock, and a malloc hook may run while
 * another thread holds that lock and waits for a lock the program's own code holds. So the list is
 * copied once at start, and after that new modules are found by address with glibc's lock-free
 * _dl_find_object: the address always comes from the stack of the calling thread, so its module
 * cannot be unloaded meanwhile.
 *
 * Epochs: an address range can come to mean another module after dlclose. modules_epoch() advances
 * only then, not when the same file comes back to the same place; cached facts about addresses are
 * out of date then.
 *
 * Places: a trace has one range for each module, so an address where several modules have been is
 * put elsewhere for all but the first of them (modules_place).
 *
 * All functions may be called from hooks, by any thread; none calls malloc. One instance a process
 * (there is one address space to describe).
 */
#ifndef FLAME_UNWIND_MODULES_H
#define FLAME_UNWIND_MODULES_H

#include <link.h>
#include <stdbool.h>

#include "common/trace/trace_writer.h"

/* Range of the dynamic loader; written once, by modules_init. */
extern struct modules_loader {
    uintptr_t start, size;
} modules_loader;

struct module {
    uintptr_t start, end; /* mapped range */
    uintptr_t bias;       /* address in memory minus address in the file */
    const void *phdr;     /* its program headers in memory; NULL: not known */
    uint16_t phnum;
    uint32_t listed;           /* the last time it was seen in the loader's list */
    bool gone;                 /* dlclose took it away */
    bool replaced;             /* something else has come into its range */
    bool recorded;             /* it is in the trace */
    uint64_t shift;            /* added to its addresses in the trace, modulo 2^64 */
    uint64_t rules;            /* its name in sharedrules.h, or 0 */
    const char *path;          /* absolute, or "[vdso]" */
    struct trace_module facts; /* build-id and layout */
};

/* Most modules that are known at once, unless modules_init sets fewer. */
#define MODULES_MOST 4096u

/* Reads the loader's list (takes its lock: call it outside of hooks' hot path). There is room for
 * `limit` modules; 0: for MODULES_MOST. */
void modules_init(size_t limit);

/* Writes all known modules into the trace, and from now on every new one. */
void modules_attach(struct trace_writer *w);

/* Makes sure the module of `pc` is known; `pc` must be on the caller's stack.
 * True when it belongs to one, filling *out if not NULL; then the loader has been asked
 * whether it is still there. */
bool modules_note(uintptr_t pc, struct module *out);

/* Whether some address in pcs[0..n) may differ in the trace. Cheap while none can. */
bool modules_moved(const uintptr_t *pcs, size_t n);

/* Address in the trace of `pc`, which must be on the caller's stack: in its module's place there,
 * TRACE_UNKNOWN_MODULE's if there is no room for the module, or marked with TRACE_ADDR_NO_MODULE.
 * It holds as long as modules_epoch is the same. */
uint64_t modules_place(uintptr_t pc);

/* Number of times that there was no room for a module, and number of modules there is room for. */
uint64_t modules_homeless(void);
size_t modules_limit(void);

/* The loader's entry for the module at `pc`, which must be on the caller's stack; NULL: none. Asks
 * the loader each time. Also where recording has never begun. */
const struct link_map *modules_link_map(uintptr_t pc);

/* The present epoch. */
uint32_t modules_epoch(void);

/* Number of times that a module was added or went away. As long as it stays the same, no address
 * has come to mean something else. */
uint32_t modules_changes(void);

/* To be called after every dlclose. */
void modules_after_dlclose(void);

/*
 * True when `pc` is in the dynamic loader. When the loader calls free, a module may just have
 * gone without a dlclose that the hooks saw (the C library closes iconv's modules itself), so
 * the call is treated like a dlclose.
 */
static inline bool modules_is_loader(uintptr_t pc)
{
    return pc - modules_loader.start < modules_loader.size;
}

/* True when some address in pcs[0..n) lies where an unloaded module was. Cheap
 * while nothing has been unloaded. */
bool modules_may_have_changed(const uintptr_t *pcs, size_t n);

/* In a forked child: locks another thread may have held are free again, and
 * there is no trace until modules_attach. */
void modules_after_fork(void);

#endif
