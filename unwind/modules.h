/*
 * modules.h: the ELF files that are mapped in the process, as a snapshot of flame's own.
 *
 * The loader's list can only be walked under the loader's lock. A malloc hook may run while another
 * thread holds that lock and waits for a lock that the program's own code holds. So the list is
 * copied once at the start. Later modules are found by address with glibc's lock-free
 * _dl_find_object: the address always comes from the stack of the calling thread, so its module
 * cannot be unloaded meanwhile.
 *
 * Epochs: after dlclose another module may be loaded at the same addresses. Only then
 * modules_epoch() advances, and cached facts about addresses are out of date. It does not advance
 * when the same file returns to the same addresses.
 *
 * Places: a trace has one range for each module. If several modules have been at one address, all
 * but the first get another range in the trace (modules_place).
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
    uint32_t listed;  /* number of the last walk of the loader's list in which it was found */
    bool gone;        /* dlclose has unloaded it */
    bool replaced;    /* another module or other code has been seen in its range */
    bool recorded;    /* it is in the trace */
    uint64_t shift;   /* added to its addresses in the trace, modulo 2^64 */
    uint64_t rules;   /* its name in sharedrules.h, or 0 */
    const char *path; /* absolute, or "[vdso]" */
    struct trace_module facts; /* build-id and layout */
};

/* Limit of modules that are known at once, unless modules_init sets a lower one. */
#define MODULES_MOST 4096u

/* Reads the loader's list. Takes the loader's lock, so it must be called outside of the hooks' hot
 * path. `limit`: number of modules that there is room for; 0: MODULES_MOST. */
void modules_init(size_t limit);

/* Writes all known modules to the trace, and from now on every new one. */
void modules_attach(struct trace_writer *w);

/* Makes sure that the module of `pc` is known; `pc` must be on the caller's stack. True: it belongs
 * to a module, and *out is filled in if not NULL; in that case the loader has confirmed that the
 * module is still loaded. */
bool modules_note(uintptr_t pc, struct module *out);

/* Whether some address in pcs[0..n) may differ in the trace. Cheap as long as none can. */
bool modules_moved(const uintptr_t *pcs, size_t n);

/* Address in the trace of `pc`, which must be on the caller's stack. It lies in the range of its
 * module, or of TRACE_UNKNOWN_MODULE if there is no room for the module, or is marked with
 * TRACE_ADDR_NO_MODULE. It is valid as long as modules_epoch stays the same. */
uint64_t modules_place(uintptr_t pc);

/* Number of times that there was no room for a module, and number of modules that there is room
 * for. */
uint64_t modules_homeless(void);
size_t modules_limit(void);

/* The loader's entry for the module at `pc`, which must be on the caller's stack; NULL: there is
 * none. Asks the loader each time. May be called even if recording has never begun. */
const struct link_map *modules_link_map(uintptr_t pc);

/* The present epoch. */
uint32_t modules_epoch(void);

/* Number of times that a module was added or unloaded. As long as it stays the same, no address has
 * begun to mean other code. */
uint32_t modules_changes(void);

/* To be called after every dlclose. */
void modules_after_dlclose(void);

/*
 * Whether `pc` is in the dynamic loader. A free that the loader calls may mean that a module was
 * unloaded without a dlclose that the hooks saw (the C library closes iconv's modules itself). So
 * the call is treated like a dlclose.
 */
static inline bool modules_is_loader(uintptr_t pc)
{
    return pc - modules_loader.start < modules_loader.size;
}

/* Whether some address in pcs[0..n) lies in the range of an unloaded module. Cheap as long as
 * nothing has been unloaded. */
bool modules_may_have_changed(const uintptr_t *pcs, size_t n);

/* To be called in a forked child: locks that another thread may have held are released, and there
 * is no trace until modules_attach. */
void modules_after_fork(void);

/* Whether no thread is in the middle of one of these functions; for the only thread that runs. */
bool modules_is_free(void);

#endif
