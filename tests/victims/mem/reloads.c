/*
 * Loads libraries that all have a function `made`, which allocates.
 *
 *   reloads turns N LIBRARY...  loads, calls and unloads them in turn, N times in all; prints by
 *                               how many KiB its private memory grew in the last three quarters
 *   reloads keep LIBRARY...     loads and calls them, one after the other, and unloads none
 *   reloads code LIBRARY        loads, calls and unloads it, and then runs code of its own making
 *                               at the address where `made` was, which allocates 77 bytes; prints
 *                               whether it could, and its PID. The code is named in
 *                               /tmp/perf-PID.map.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef void *maker(void);

static maker *made_of(void *library)
{
    maker *made;

    if (!library || !(*(void **)&made = dlsym(library, "made")))
        exit(1);
    return made;
}

static maker *call(const char *file, int keep)
{
    void *library = dlopen(file, RTLD_NOW);
    maker *made = made_of(library);

    free(made());
    if (!keep)
        dlclose(library);
    return made;
}

static long private_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = 0;

    while (f && fgets(line, sizeof line, f))
        sscanf(line, "RssAnon: %ld", &kib);
    if (f)
        fclose(f);
    return kib;
}

static void turns(int n, char **libraries, int count)
{
    long before = 0;

    for (int i = 0; i < n; i++) {
        if (i == n / 4)
            before = private_kib();
        call(libraries[i % count], 0);
    }
    printf("%ld\n", private_kib() - before);
}

#if defined(__x86_64__)
/* push %rbp; mov %rsp,%rbp; mov $77,%edi; movabs $malloc,%rax; call *%rax; pop %rbp; ret */
static unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0xbf, 77, 0, 0,    0,    0x48, 0xb8, 0,
                               0,    0,    0,    0,    0,    0,  0, 0xff, 0xd0, 0x5d, 0xc3};
#define ADDRESS_AT 11

static int run_code(uintptr_t at)
{
    uintptr_t page = at & ~(uintptr_t)4095, target = (uintptr_t)malloc;
    char name[64];
    maker *made;
    FILE *map;

    if (mmap((void *)page, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != (void *)page)
        return 0;
    memcpy(code + ADDRESS_AT, &target, sizeof target);
    memcpy((void *)at, code, sizeof code);
    snprintf(name, sizeof name, "/tmp/perf-%d.map", (int)getpid());
    if (!(map = fopen(name, "w")))
        return 0;
    fprintf(map, "%lx %zx made_here\n", (unsigned long)at, sizeof code);
    fclose(map);
    *(void **)&made = (void *)at;
    free(made());
    return 1;
}
#else
static int run_code(uintptr_t at)
{
    (void)at;
    return 0;
}
#endif

int main(int argc, char **argv)
{
    if (argc > 3 && strcmp(argv[1], "turns") == 0)
        turns(atoi(argv[2]), argv + 3, argc - 3);
    else if (argc > 2 && strcmp(argv[1], "keep") == 0)
        for (int i = 2; i < argc; i++)
            call(argv[i], 1);
    else if (argc == 3 && strcmp(argv[1], "code") == 0)
        printf("%s %d\n", run_code((uintptr_t)call(argv[2], 0)) ? "ran" : "could-not",
               (int)getpid());
    else
        return 2;
    return 0;
}
