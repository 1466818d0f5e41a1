/*
 * Limits of the record of a process's memory for a leak scan: mappings at the start, writable
 * segments of modules, threads that did not stop. A process beyond a limit is marked as such.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "preload/leak/roots.h"
#include "tests/tap.h"

#define PAGE ((size_t)4096)

static struct stopped_world nobody;

/* ---- modules: as many as are asked for, each of one writable segment ---- */

static size_t modules;

int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *arg)
{
    static int (*real)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
    ElfW(Phdr) header = {.p_type = PT_LOAD, .p_flags = PF_W, .p_memsz = PAGE};
    struct dl_phdr_info info = {.dlpi_name = "", .dlpi_phdr = &header, .dlpi_phnum = 1};
    int stop = 0;

    if (!modules) {
        if (!real)
            *(void **)&real = dlsym(RTLD_NEXT, "dl_iterate_phdr");
        return real(visit, arg);
    }
    for (size_t i = 0; i < modules && !stop; i++) {
        info.dlpi_addr = ((uintptr_t)1 << 40) + i * 2 * PAGE;
        stop = visit(&info, sizeof info, arg);
    }
    return stop;
}

static bool complete_with_modules(size_t n)
{
    modules = n;
    roots_list_modules();
    modules = 0;
    return roots_complete(&nobody);
}

/* ---- mappings ---- */

/* Every other page is writable, so that each is a mapping of its own. */
static bool complete_with_mappings(size_t n)
{
    char *at = mmap(NULL, 2 * n * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t i = 0; i < n; i++)
        mprotect(at + 2 * i * PAGE, PAGE, PROT_READ | PROT_WRITE);
    roots_at_start();
    munmap(at, 2 * n * PAGE);
    return roots_complete(&nobody);
}

/* ---- threads ---- */

static bool complete_with(enum stop_world_state state, uintptr_t sp)
{
    struct stopped_thread threads[2] = {{.state = STOP_WORLD_STANDS, .sp = 4096},
                                        {.state = state, .sp = sp}};

    return roots_complete(&(struct stopped_world){.threads = threads, .n = 2, .missed = 1});
}

int main(void)
{
    ok(complete_with_mappings(10), "a process with few mappings at the start is complete");
    ok(complete_with_modules(100), "a process with 100 modules is complete");
    ok(complete_with_modules(16384), "a process with 16384 modules is complete");
    ok(!complete_with_modules(16385), "a process with 16385 modules is incomplete");
    ok(complete_with_modules(1), "a new list of few modules is complete again");
    ok(complete_with_mappings(3000), "a process with 3000 mappings at the start is complete");
    ok(!complete_with_mappings(5000), "a process with 5000 mappings at the start is incomplete");
    ok(complete_with_mappings(10), "a new list of few mappings is complete again");
    ok(complete_with(STOP_WORLD_GONE, 0), "an ended thread leaves the process complete");
    ok(complete_with(STOP_WORLD_MISSED, 4096),
       "a thread that did not stop leaves the process complete if its stack pointer is known");
    ok(!complete_with(STOP_WORLD_MISSED, 0),
       "a thread that did not stop makes the process incomplete if its stack pointer is unknown");
    return done_testing();
}
