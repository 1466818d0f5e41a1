/*
 * Whether frees are checked, and which errors can be certain in this process. That depends on the
 * modules that define the functions which the program calls, and on the next definitions.
 */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "preload/lifecycle.h"
#include "preload/misuse/check_free.h"
#include "preload/misuse/report.h"
#include "preload/runtime/next_operators.h"
#include "preload/runtime/config.h"
#include "preload/runtime/next_symbol.h"
#include "preload/runtime/log.h"
#include "preload/sidetables/recent_frees.h"
#include "preload/sidetables/pausedblocks.h"
#include "preload/sidetables/alloc_family.h"
#include "preload/sidetables/features.h"
#include "unwind/dynsym.h"
#include "common/processor/arch.h"

/* A function that only the C library defines. */
#ifdef __GLIBC__
#define LIBC_OWN "gnu_get_libc_version"
#else
#define LIBC_OWN "__libc_start_main"
#endif

/* Beginning of the object that contains this address; NULL: none does. */
static const void *object_of(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Whether all of the program's calls reach the hooks. A program with some definitions of its own
 * may pass a block of its own to one of the hooks. */
static bool are_ours(const char *const *names)
{
    const void *self = object_of((const void *)are_ours);

    for (; *names; names++) {
        const void *found = dynsym_anywhere(*names);

        if (found && object_of(found) != self)
            return false;
    }
    return true;
}

/* Whether the next definition is the C library's, which hands out blocks only by functions that
 * have hooks. */
static bool is_of_libc(const char *name)
{
    const void *libc = object_of(next_symbol_find(LIBC_OWN, NULL));

    return libc && object_of(next_symbol_find(name, ARCH_LIBC_BASE)) == libc;
}

/* Whether blocks belong to families of functions. tcmalloc's and mimalloc's own functions
 * (preload/allocators/) allocate blocks that any of their functions may free. */
static bool has_families(void)
{
    return !dynsym_anywhere("tc_new") && !dynsym_anywhere("mi_new");
}

static uint32_t find_scope(void)
{
    static const char *const functions[] = {"malloc",         "calloc",        "realloc",
                                            "free",           "reallocarray",  "memalign",
                                            "posix_memalign", "aligned_alloc", NULL};
    static const char *const operators[] = {"_Znwm", "_Znam", "_ZdlPv", "_ZdaPv", "_ZdlPvm", NULL};
    bool ours = are_ours(functions);

    return (ours && is_of_libc("malloc") && is_of_libc("free") ? CHECK_FREE_BLOCKS : 0) |
           (ours && are_ours(operators) && has_families() ? CHECK_FREE_OPERATORS : 0);
}

static void started(const struct config *config)
{
    if (!config->misuse)
        return;
    if (config->sample) {
        log_line("misuse=1 is ignored, as blocks are sampled", NULL);
        return;
    }
    pausedblocks_remember();
    if (!recent_frees_begin() || !alloc_family_begin()) {
        log_line("misuse=1 is ignored: no memory for the recorder", NULL);
        return;
    }
    check_free_enable(find_scope());
    next_operators_watch();
    __atomic_fetch_or(&features_on, FEATURE_MISUSE, __ATOMIC_RELEASE);
}

/* Without the option there are no reports, and clearing them would touch 33 pages of a child. */
static void forked(void)
{
    if (any_feature_on() & FEATURE_MISUSE)
        report_after_fork();
}

const struct lifecycle_listener lifecycle_misuse = {
    .started = started,
    .forked = forked,
};
