/*
 * Cases of blocks whose verdicts at the program's end are known. A case is one place: its name, the
 * functions that allocate its blocks, and the code that uses those. The verdict on a block is the
 * first word of its function's name:
 *
 *   definite_    nothing leads to it
 *   indirect_    only leaked blocks do
 *   inner_       a pointer to its inside leads to it
 *   reachable_   a pointer to its beginning does
 *   unjudged_    the process is not scanned
 *
 *     CASE(overwritten, BLOCK(definite_overwritten) BLOCK(reachable_overwriting))
 *     {
 *         static void *kept;
 *
 *         kept = definite_overwritten(101);
 *         kept = reachable_overwriting(102);
 *     }
 *
 * usage: PROGRAM [--list | CASE...]
 * Without an argument all cases run that do not end the process (CASE, not CASE_ALONE). --list
 * prints a line for each: "together NAME FUNCTION..." or "alone NAME FUNCTION...".
 *
 * Only one source of a program may include this, as it defines main.
 */
#ifndef FLAME_TESTS_KINDS_H
#define FLAME_TESTS_KINDS_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, unused))

/* A row of the table. All rows that one use of CASE makes have the same line. */
struct kind {
    int line;
    int alone;
    const char *name;
    void (*run)(void); /* NULL: a function that allocates */
};

extern const struct kind *const __start_kinds[], *const __stop_kinds[];

#define KINDS_ROW(name, alone, run)                                                                \
    static const struct kind row_of_##name = {__LINE__, alone, #name, run};                        \
    __attribute__((used, section("kinds"))) static const struct kind *const place_of_##name =      \
        &row_of_##name;

/* Defines a function that allocates a block of `size`, but is in no case yet. */
#define ALLOCATES(name)                                                                            \
    NOINLINE static void *name(size_t size)                                                        \
    {                                                                                              \
        void *volatile p = calloc(1, size);                                                        \
        return p;                                                                                  \
    }

/* Lists a function that is defined before, and allocates in its own way. */
#define NAMED(name) KINDS_ROW(name, 0, NULL)

#define BLOCK(name) NAMED(name) ALLOCATES(name)

#define KINDS_CASE(name, alone, ...)                                                               \
    __VA_ARGS__                                                                                    \
    NOINLINE static void case_##name(void);                                                        \
    KINDS_ROW(case_##name, alone, case_##name)                                                     \
    NOINLINE static void case_##name(void)

#define CASE(name, ...) KINDS_CASE(name, 0, __VA_ARGS__)
#define CASE_ALONE(name, ...) KINDS_CASE(name, 1, __VA_ARGS__)

/* Clears the stack below the caller, where returned functions may have left pointers. */
NOINLINE static void wipe(void)
{
    volatile char below[16384];

    memset((void *)below, 0, sizeof below);
}

/* ---- threads that stay ---- */

/* Runs `function` in a thread, and returns when the thread has called `arrive`. */
static pthread_barrier_t kinds_arrival;

NOINLINE static void arrive(void)
{
    wipe();
    pthread_barrier_wait(&kinds_arrival);
}

NOINLINE static void stay(void)
{
    arrive();
    for (;;)
        pause();
}

NOINLINE static pthread_t begin_thread_with(void *(*function)(void *), void *arg,
                                            const pthread_attr_t *attr)
{
    pthread_t t;

    pthread_barrier_init(&kinds_arrival, NULL, 2);
    if (pthread_create(&t, attr, function, arg) != 0)
        abort();
    arg = NULL;
    pthread_barrier_wait(&kinds_arrival);
    return t;
}

NOINLINE static pthread_t begin_thread(void *(*function)(void *))
{
    return begin_thread_with(function, NULL, NULL);
}

/* ---- the table ---- */

#define KINDS_PREFIX (sizeof "case_" - 1)

static void kinds_list(void)
{
    for (const struct kind *const *at = __start_kinds; at < __stop_kinds; at++) {
        if (!(*at)->run)
            continue;
        printf("%s %s", (*at)->alone ? "alone" : "together", (*at)->name + KINDS_PREFIX);
        for (const struct kind *const *b = __start_kinds; b < __stop_kinds; b++)
            if (!(*b)->run && (*b)->line == (*at)->line)
                printf(" %s", (*b)->name);
        putchar('\n');
    }
}

NOINLINE static int kinds_run(const char *name)
{
    int found = 0;

    for (const struct kind *const *at = __start_kinds; at < __stop_kinds; at++) {
        const struct kind *k = *at;

        if (!k->run || (name ? strcmp(name, k->name + KINDS_PREFIX) != 0 : k->alone))
            continue;
        found = 1;
        k->run();
        wipe();
    }
    return found;
}

static char **program_arguments;

int main(int argc, char **argv)
{
    program_arguments = argv;
    if (argc > 1 && strcmp(argv[1], "--list") == 0) {
        kinds_list();
        return 0;
    }
    if (argc == 1)
        kinds_run(NULL);
    for (int i = 1; i < argc; i++)
        if (!kinds_run(argv[i])) {
            fprintf(stderr, "no case %s\n", argv[i]);
            return 3;
        }
    wipe();
    return 0;
}

#endif
