/*
 * Problem: see lazyload.h. glibc's loader loads every library that a program was linked with
 * before its first instruction (there is no -z lazyload), and dlopen with a table of pointers
 * for each would be in every caller.
 *
 * Algorithm: $(O)/generated/latelibs.h (scripts/latelibs.sh) lists the libraries and each function
 * that flame's objects need of them. Each gets a definition here: a jump through a pointer. At
 * first the pointer leads to code that saves all argument registers, has late_bind() put the
 * library's own addresses into the pointers, and jumps again. A procedure linkage table does the
 * same at the same cost.
 *
 * All functions of a library are found at its first call: a forked child must not enter the loader,
 * and so does not have to.
 */
#define _GNU_SOURCE
#include "common/lazyload/lazyload.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <generated/latelibs.h>

#if LATE_COUNT /* else all libraries are linked in */

#include "common/compiler.h"
#include "common/error.h"
#if defined(__x86_64__)
#include "common/lazyload/lazyload_x86_64.h"
#else
#include "common/lazyload/lazyload_aarch64.h"
#endif

struct library {
    size_t first; /* index in `names` and late_addresses */
    const char *soname;
};

/* Filled in with release, and read by the code below, for which any order will do. */
extern void *late_addresses[] __attribute__((visibility("hidden")));

#define LIBRARY(first, soname) {first, soname},
static const struct library libraries[] = {LATE_LIBRARIES(LIBRARY){LATE_COUNT, NULL}};

#define NAME(index, name) #name,
static const char *const names[] = {LATE_FUNCTIONS(NAME) NULL};

static int say_missing(void)
{
    return flame_error(FLAME_FAILED, "a library that is needed here: %s; install it", dlerror());
}

static int bind_all(const struct library *l)
{
    void *handle = dlopen(l->soname, RTLD_NOW | RTLD_LOCAL), *address;

    if (!handle)
        return say_missing();
    for (size_t i = l->first; i < l[1].first; i++) {
        address = dlsym(handle, names[i]);
        if (!address)
            return say_missing();
        __atomic_store_n(&late_addresses[i], address, __ATOMIC_RELEASE);
    }
    return FLAME_OK;
}

__attribute__((used)) void late_bind(size_t index)
{
    const struct library *l = libraries;

    while (index >= l[1].first)
        l++;
    if (bind_all(l) != FLAME_OK)
        exit(late_missing_status);
}

int late_load(const char *const *wanted)
{
    int status = FLAME_OK;

    for (const struct library *l = libraries; l->soname && status == FLAME_OK; l++)
        for (const char *const *name = wanted; *name && status == FLAME_OK; name++)
            if (strncmp(l->soname, *name, strlen(*name)) == 0)
                status = bind_all(l);
    return status;
}

/* One pointer for each function, and the functions. */
__asm__(LATE_FIRST ".data\n"
                   ".balign 8\n"
                   ".hidden late_addresses\n"
                   ".globl late_addresses\n"
                   "late_addresses:\n"
                   ".text\n" LATE_FUNCTIONS(LATE_FUNCTION));

#endif
